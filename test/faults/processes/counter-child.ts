import { openMongoCoordinationStore } from '@app/coordination';
import { openEventStoreLog } from '@app/event-log';
import { retry } from '@app/kernel';
import { openMongoReadStore } from '@app/read-store';
import { sharedProjector } from '../../fixtures/shared-projector';
import { declarations, type ProductVersion, SILENCE_MS } from './counter-views';

/** One of several projectors, each a process, over a log and views on servers. Says `up` once it takes part. */
const [, , log = '', views = '', name = '', version = ''] = process.argv;

/** A machine that is busy is slow to answer; the product waits as this does. */
const warn = (sentence: string): void => void process.stderr.write(`${sentence}\n`);

const main = async (): Promise<void> => {
  const projector = sharedProjector({
    name,
    version,
    silenceMs: SILENCE_MS,
    projection: declarations[version as ProductVersion],
    log: await openEventStoreLog({ url: log }),
    readStore: await retry(() => openMongoReadStore({ url: views }), { warn }),
    coordination: await retry(() => openMongoCoordinationStore({ url: views }), { warn }),
  });
  await retry(() => projector.start(), { warn });
  process.stdout.write('up\n');
};

void main();
