import type { ExpectedRevision, NewEvent } from '@app/kernel';
import { startTestPlatform } from '../../e2e/harness';

/**
 * The product on DATA_DIR, with MODELS_FILE and BOOTSTRAP_API_KEY. With DIE_BEFORE `append 2` or `put 3` it kills itself before
 * that append to, or body of, a document that was added in this life, counted from 1.
 */
const run = async (): Promise<void> => {
  const { DATA_DIR: dataDir = '', MODELS_FILE = '', BOOTSTRAP_API_KEY = '', DIE_BEFORE = '' } = process.env;
  const environment = { MODELS_FILE, BOOTSTRAP_API_KEY };
  const { platform, url, stop } = await startTestPlatform({ listen: true, dataDir, environment });
  const { log, blobs } = platform.host.stores;
  const [deadly, number] = DIE_BEFORE.split(' ');
  const counts = new Map<string, { append: number; put: number }>();
  const count = (stream: string, what: 'append' | 'put'): void => {
    const counted = counts.get(stream);
    if (counted !== undefined && (counted[what] += 1) === Number(number) && what === deadly)
      process.kill(process.pid, 'SIGKILL');
  };
  const append = log.append.bind(log);
  log.append = (stream: string, events: readonly NewEvent[], expected: ExpectedRevision) => {
    if (events.some(({ type }) => type === 'DocumentAdded')) counts.set(stream, { append: 0, put: 0 });
    else count(stream, 'append');
    return append(stream, events, expected);
  };
  const put = blobs.put.bind(blobs);
  blobs.put = (stream, ...body) => {
    count(stream, 'put');
    return put(stream, ...body);
  };
  const group = blobs.group.bind(blobs);
  blobs.group = () => {
    const together = group();
    return {
      ...together,
      put: (stream, ...body) => {
        count(stream, 'put');
        return together.put(stream, ...body);
      },
    };
  };
  process.once('SIGTERM', () => void stop({ keep: true }));
  console.log(url);
};

void run();
