import { openSync, writeSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import { openSqliteEventLog } from '@app/event-log';
import type { NewEvent } from '@app/kernel';

/** Appends from many callers until it is killed, and notes in a file what it sends and what is acknowledged. */

/** A line of the file. Appends are sent at the revision that their caller knows of its own stream. */
export type Note =
  | { readonly kind: 'sent'; readonly stream: string; readonly revision: number; readonly events: readonly NewEvent[] }
  | { readonly kind: 'acknowledged'; readonly stream: string; readonly revision: number; readonly position: string };

const [folder = '', notes = '', callers = '16'] = process.argv.slice(2);

const main = async (): Promise<void> => {
  const log = await openSqliteEventLog({ folder });
  const file = openSync(notes, 'a');
  const write = (note: Note): void => void writeSync(file, `${JSON.stringify(note)}\n`);
  const run = randomUUID();
  await Promise.all(
    Array.from({ length: Number(callers) }, async (_, caller) => {
      const stream = `kill-${run}-${caller}`;
      for (let revision = -1; ;) {
        const events = Array.from({ length: 1 + (caller % 3) }, (): NewEvent => ({
          id: randomUUID(),
          type: 'Counted',
          data: `{"after":${revision}}`,
          metadata: '{}',
        }));
        write({ kind: 'sent', stream, revision, events });
        const answer = await log.append(stream, events, revision < 0 ? 'noStream' : revision);
        write({ kind: 'acknowledged', stream, ...answer });
        revision = answer.revision;
      }
    }),
  );
};

void main();
