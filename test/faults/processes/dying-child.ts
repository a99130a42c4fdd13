import type { ExpectedRevision, NewEvent } from '@app/kernel';
import { startTestPlatform } from '../../e2e/harness';

/** The product on DATA_DIR. A request with the id `dying-<n>` kills the process before its n-th append. */
const run = async (): Promise<void> => {
  const { platform, url, stop } = await startTestPlatform({ listen: true, dataDir: process.env['DATA_DIR'] ?? '' });
  const { log } = platform.host.stores;
  const append = log.append.bind(log);
  let appends = 0;
  log.append = (stream: string, events: readonly NewEvent[], expected: ExpectedRevision) => {
    const dying = events
      .map(({ metadata }) => /"requestId":"dying-(\d+)"/.exec(metadata))
      .find((found) => found !== null);
    if (dying !== undefined && (appends += 1) === Number(dying?.[1])) process.kill(process.pid, 'SIGKILL');
    return append(stream, events, expected);
  };
  process.once('SIGTERM', () => void stop({ keep: true }));
  console.log(url);
};

void run();
