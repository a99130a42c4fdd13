import { parseArgs } from 'node:util';
import { noLag, noPauses, startEventStoreDouble } from './double';
import type { Faults } from './faults';

/**
 * The double as a process of its own, to be killed or paused:
 * `node --require ./test/register.cjs test/servers/eventstoredb/main.ts --port 2113 --file /tmp/log.jsonl --version 24.10.4`.
 * With `--lag none` what is written is shown and acknowledged at once, and nothing pauses, for measuring. It prints its connection string when
 * it listens. A parent that forked it sets faults by message: `child.send({ isSilent: true })`.
 */
const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '2113' },
      file: { type: 'string' },
      version: { type: 'string', default: '24.10.4' },
      lag: { type: 'string', default: 'seeded' },
    },
  });
  const { port, file, version, lag } = values;
  if (version !== '24.10.4' && version !== '23.10.6') throw new Error(`unknown version ${version}`);
  if (lag !== 'seeded' && lag !== 'none') throw new Error(`unknown lag ${lag}`);
  const double = await startEventStoreDouble({
    port: Number(port),
    version,
    ...(file === undefined ? {} : { file }),
    ...(lag === 'none' ? { lag: noLag, pauses: noPauses } : {}),
  });
  process.on('message', (faults: Partial<Faults>) => Object.assign(double.faults, faults));
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => void double.stop().then(() => process.exit(0)));
  process.stdout.write(`${double.url}\n`);
};

void main();
