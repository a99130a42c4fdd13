import type { EventLog } from '@app/event-log';
import type { Position, StoredEvent } from '@app/kernel';

/** Streams that are read beside each other. */
export const STREAMS_AT_ONCE = 50;
/** About so many characters of events are held, of all streams that are read beside each other. */
const HELD = 2 * 1024 * 1024;
const FIRST_PAGE = 8;
const LARGEST_PAGE = 500;

type Streams = Pick<EventLog, 'readStream'>;

/** A stream from its beginning, in pages: of few events where those are large, or where many streams are read beside each other. */
export async function* streamPages(
  log: Streams,
  stream: string,
  beside: number,
): AsyncGenerator<readonly StoredEvent[]> {
  let limit = Math.max(1, Math.floor(FIRST_PAGE / beside));
  for (let from = 0; ;) {
    const page = await log.readStream(stream, { from, limit });
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < limit) return;
    from = last.revision + 1;
    const size = page.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0) / page.length;
    limit = Math.min(LARGEST_PAGE, Math.max(1, Math.floor(HELD / beside / size)));
  }
}

/** The events of these types in several streams, in log order. Of each stream one page is held. */
export async function* inLogOrder(
  log: Streams,
  streams: readonly string[],
  types: ReadonlySet<string>,
): AsyncGenerator<StoredEvent> {
  // The one that is next stands last.
  const heads: Head[] = [];
  for (let from = 0; from < streams.length; from += STREAMS_AT_ONCE) {
    const some = streams.slice(from, from + STREAMS_AT_ONCE);
    const read = some.map((stream) => headOf(typed(streamPages(log, stream, streams.length), types)));
    for (const head of await Promise.all(read)) if (head !== undefined) heads.push(head);
  }
  heads.sort((a, b) => (a.event.position > b.event.position ? -1 : 1));
  for (let head = heads.pop(); head !== undefined; head = heads.pop()) {
    yield head.event;
    const following = await headOf(head.rest);
    if (following !== undefined) heads.splice(placeOf(heads, following.event.position), 0, following);
  }
}

interface Head {
  readonly event: StoredEvent;
  readonly rest: AsyncGenerator<StoredEvent>;
}

const headOf = async (rest: AsyncGenerator<StoredEvent>): Promise<Head | undefined> => {
  const { done, value } = await rest.next();
  return done === true ? undefined : { event: value, rest };
};

async function* typed(
  pages: AsyncGenerator<readonly StoredEvent[]>,
  types: ReadonlySet<string>,
): AsyncGenerator<StoredEvent> {
  for await (const page of pages) for (const event of page) if (types.has(event.type)) yield event;
}

/** Where a head goes among those that are ordered from the latest to the next. */
const placeOf = (heads: readonly Head[], position: Position): number => {
  let [low, high] = [0, heads.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((heads[middle] as Head).event.position > position) low = middle + 1;
    else high = middle;
  }
  return low;
};
