import { startTestPlatform } from '../../e2e/harness';

type Step = (...given: never[]) => Promise<unknown>;

/** The product on DATA_DIR. Once it got SIGUSR2 it is killed at the step of an erasure that DIE_AT names, such as `before destroy`. */
const run = async (): Promise<void> => {
  const { platform, url, stop } = await startTestPlatform({ listen: true, dataDir: process.env['DATA_DIR'] ?? '' });
  const [when, at] = (process.env['DIE_AT'] ?? '').split(' ');
  let isArmed = false;
  const dieAt = <Name extends string>(store: Record<Name, Step>, name: Name, step: string = name): void => {
    if (step !== at) return;
    const made = store[name].bind(store) as Step;
    store[name] = async (...given) => {
      if (isArmed && when === 'before') process.kill(process.pid, 'SIGKILL');
      const done = await made(...given);
      if (isArmed) process.kill(process.pid, 'SIGKILL');
      return done;
    };
  };
  const { vault, blobs, readStore, searchIndex, log } = platform.host.stores;
  dieAt(vault, 'destroy');
  dieAt(blobs, 'remove');
  dieAt(readStore, 'purge', 'purge-views');
  dieAt(searchIndex, 'purge', 'purge-search');
  const append = log.append.bind(log);
  log.append = async (stream, events, expected) => {
    const isReceipt = isArmed && at === 'receipt' && events.some(({ type }) => type === 'ContentErased');
    if (isReceipt && when === 'before') process.kill(process.pid, 'SIGKILL');
    const done = await append(stream, events, expected);
    if (isReceipt) process.kill(process.pid, 'SIGKILL');
    return done;
  };
  process.once('SIGUSR2', () => {
    isArmed = true;
    console.log('armed');
  });
  process.once('SIGTERM', () => void stop({ keep: true }));
  console.log(url);
};

void run();
