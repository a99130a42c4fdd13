import type { ExpectedRevision, NewEvent } from '@app/kernel';
import { startTestPlatform } from '../../e2e/harness';

/** What a request and the policies behind it append, once one of them is to die. */
interface Doomed {
  /** Before which append: a number, or the type of an event. */
  readonly at: string;
  readonly isHeld: boolean;
  appends: number;
  isOver: boolean;
}

const REQUEST = /^(dying|held)-([^-]+)/;

/**
 * The product on DATA_DIR, with the variables in ENVIRONMENT. A request with the id `dying-<n>` kills the process before its n-th append; one with
 * the id `dying-<type>` before the first event of that type that it appends, or a policy behind it. One with the id `held-<n>-<more>` says so
 * in that moment, and neither it nor a policy behind it appends any more: who wants to kill many at once kills the process then.
 */
const run = async (): Promise<void> => {
  const { platform, url, stop } = await startTestPlatform({
    listen: true,
    dataDir: process.env['DATA_DIR'] ?? '',
    environment: JSON.parse(process.env['ENVIRONMENT'] ?? '{}') as Record<string, string>,
  });
  const { log } = platform.host.stores;
  const append = log.append.bind(log);
  /** By what the events of a request, and of policies behind it, have in common. */
  const doomed = new Map<string, Doomed>();
  log.append = (stream: string, events: readonly NewEvent[], expected: ExpectedRevision) => {
    const [event] = events;
    const { requestId = '', $correlationId: cause = '' } = JSON.parse(event?.metadata ?? '{}') as Record<
      string,
      string
    >;
    const [, how, at] = REQUEST.exec(requestId) ?? [];
    if (at !== undefined && !doomed.has(cause))
      doomed.set(cause, { at, isHeld: how === 'held', appends: 0, isOver: false });
    const found = doomed.get(cause);
    if (found === undefined) return append(stream, events, expected);
    if (at !== undefined) found.appends += 1;
    if (!found.isOver && [String(found.appends), event?.type].includes(found.at)) {
      if (!found.isHeld) process.kill(process.pid, 'SIGKILL');
      found.isOver = true;
      console.log(`${requestId} is held`);
    }
    return found.isOver ? new Promise(() => undefined) : append(stream, events, expected);
  };
  process.once('SIGTERM', () => void stop({ keep: true }));
  console.log(url);
};

void run();
