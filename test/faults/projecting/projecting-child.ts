import { openCounterStores, startWriters } from './counter-stores';

/**
 * Runs the projector over the stores of a folder, with writers beside it, until it is killed. Says `running` once it has
 * caught up. With a share of the work, such as 0.3, it rebuilds, and says `there` when that share is done.
 */
const [, , folder = '', share] = process.argv;

const main = async (): Promise<void> => {
  const { log, projecting } = await openCounterStores(folder);
  await projecting.start();
  await projecting.waitFor('counters', (await log.head()) ?? '', 30_000);
  process.stdout.write('running\n');
  startWriters(log, 4);
  if (share === undefined) return;
  const rebuild = projecting.rebuild('counters');
  projecting.events.on('rebuild', ({ state }) => process.stdout.write(`${state}\n`));
  const status = await rebuild.status();
  if (status === undefined) await rebuild.start({ swap: true });
  for (;;) {
    const { done = 0, total = 0 } = (await rebuild.status()) ?? {};
    if (done >= total * Number(share)) break;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  process.stdout.write('there\n');
};

void main();
