import type { ExpectedRevision, NewEvent } from '@app/kernel';
import { startTestPlatform } from '../../e2e/harness';

/**
 * The product on DATA_DIR, with the variables in ENVIRONMENT. A request with the id `dying-<n>` kills the process before its n-th append; one with
 * the id `dying-<type>` before the first event of that type that it appends, or a policy behind it.
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
  const dying = new Map<string, { readonly at: string; appends: number }>();
  log.append = (stream: string, events: readonly NewEvent[], expected: ExpectedRevision) => {
    const [event] = events;
    const { requestId, $correlationId: cause = '' } = JSON.parse(event?.metadata ?? '{}') as Record<string, string>;
    const isOfRequest = requestId?.startsWith('dying-') === true;
    if (isOfRequest && !dying.has(cause)) dying.set(cause, { at: requestId.slice('dying-'.length), appends: 0 });
    const found = dying.get(cause);
    if (isOfRequest && found !== undefined) found.appends += 1;
    if (found !== undefined && [String(found.appends), event?.type].includes(found.at))
      process.kill(process.pid, 'SIGKILL');
    return append(stream, events, expected);
  };
  process.once('SIGTERM', () => void stop({ keep: true }));
  console.log(url);
};

void run();
