import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BlobName } from '@app/blobs';
import type { LogReader } from '@app/event-log';
import type { StoredEvent } from '@app/kernel';
import { aggregates } from './aggregates';

const PAGE = 500;
/** The name of a blob as it stands in an event, whatever its field is called; names are not encrypted. */
const NAME = /"([0-9a-f]{32})"/g;

/** Those of some blobs that the last event which says anything of them names: any event, also one that this version of the program does not know. */
export const blobsNamedIn = async (
  log: Pick<LogReader, 'readAll'>,
  wanted: ReadonlySet<BlobName>,
): Promise<ReadonlySet<BlobName>> => {
  const named = new Set<BlobName>();
  for (let after: string | null = null; wanted.size > 0; await nextTurn()) {
    const page = await log.readAll({ after, limit: PAGE });
    for (const event of page.events) {
      const found = new Set(
        [...event.data.matchAll(NAME)].flatMap(([, name = '']) => (wanted.has(name) ? [name] : [])),
      );
      if (found.size === 0) continue;
      const givenUp = givenUpBy(event);
      for (const name of found) {
        if (givenUp.has(name)) named.delete(name);
        else named.add(name);
      }
    }
    if (page.end || page.next === null) break;
    after = page.next;
  }
  return named;
};

const givenUpBy = ({ type, data }: StoredEvent): ReadonlySet<BlobName> =>
  new Set(aggregates.blobsIn({ type, data: JSON.parse(data) as Record<string, unknown> }).released);
