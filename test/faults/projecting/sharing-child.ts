import { join } from 'node:path';
import { openSqliteCoordinationStore } from '@app/coordination';
import { type EventLog, follow, type LogReader, openSqliteLogReader } from '@app/event-log';
import { openSqliteReadStore } from '@app/read-store';
import { sharedProjector } from '../../fixtures/shared-projector';

/**
 * One of several projectors, each a process, over the stores of a folder whose log another process writes. Says `up`, and
 * from then on `slices <n>`, as many as it holds.
 */
const [, , folder = '', name = ''] = process.argv;

/** Follows a log by looking at it: nothing tells this process of appends. */
const followed = (reader: LogReader): EventLog => {
  const feed = {
    readAll: reader.readAll.bind(reader),
    listen: (onAppended: () => void) => {
      const timer = setInterval(onAppended, 20);
      return () => clearInterval(timer);
    },
  };
  return Object.assign(Object.create(reader) as EventLog, {
    subscribe: (options: Parameters<EventLog['subscribe']>[0]) => follow(feed, options),
  });
};

const main = async (): Promise<void> => {
  const log = followed(await openSqliteLogReader({ folder: join(folder, 'log') }));
  const projector = sharedProjector({
    name,
    log,
    readStore: await openSqliteReadStore({ folder: join(folder, 'views') }),
    coordination: await openSqliteCoordinationStore({ folder: join(folder, 'views') }),
  });
  await projector.start();
  process.stdout.write('up\n');
  // Again and again: whoever listens may have begun behind the last change.
  setInterval(() => process.stdout.write(`slices ${projector.slices()}\n`), 20);
};

void main();
