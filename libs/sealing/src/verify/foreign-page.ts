import { inLogOrder, isForeignEvent, type LogReader } from '@app/event-log';
import type { Position } from '@app/kernel';
import { contentHash } from '../event-hash';
import { SealedForeignEvents } from '../sealed-foreign-events';
import { StreamHolders } from './foreign-tally';
import type { ForeignEvents } from './verification';

const PAGE = 500;
/** Most events that one page looks at, ours too. */
const MOST_LOOKED_AT = 5_000;

/**
 * A foreign event that verifiers need to know of: in a stream of ours, or under a seal of an earlier version. Its
 * content is not ours to show.
 */
export interface NotedForeignEvent {
  readonly id: string;
  readonly position: Position;
  readonly stream: string;
  readonly revision: number;
  /** SHA-256, hex, over type, data and metadata as seals take it. */
  readonly contentHash: string;
  /** Its stream holds events of ours. */
  readonly inStreamOfOurs: boolean;
  /** When the server took it, ISO 8601 UTC. */
  readonly at: string;
}

/** A page of what other programs wrote. */
export interface ForeignPage {
  readonly items: readonly NotedForeignEvent[];
  /** What else others wrote in this stretch of the log. */
  readonly others: ForeignEvents;
  /** Where the next page begins, exclusive; null at the end. A page may be empty before the end. */
  readonly next: Position | null;
}

const NOTHING: ForeignPage = { items: [], others: { events: 0, since: null }, next: null };

/** What others wrote behind a position, oldest first. */
export const foreignPage = async (
  log: LogReader,
  { after, limit }: { readonly after: Position | null; readonly limit: number },
): Promise<ForeignPage> => {
  if (log.isShared !== true) return NOTHING;
  const holders = new StreamHolders(log);
  const sealed = new SealedForeignEvents(log, after);
  const items: NotedForeignEvent[] = [];
  let others = NOTHING.others;
  for (let at = after, looked = 0; ;) {
    const page = await log.readAll({ after: at, limit: PAGE, withForeign: true });
    for (const event of inLogOrder(page)) {
      looked += 1;
      if (!isForeignEvent(event)) {
        sealed.passed(event);
        continue;
      }
      const inStreamOfOurs = await holders.isAmongOurs(event);
      const { id, position, stream, revision } = event;
      if (inStreamOfOurs || (await sealed.holds(event)))
        items.push({ id, position, stream, revision, contentHash: contentHash(event), inStreamOfOurs, at: event.at });
      else others = { events: others.events + 1, since: others.since ?? { position, at: event.at } };
      if (items.length === limit) return { items, others, next: position };
    }
    if (page.end || page.next === null) return { items, others, next: null };
    if (looked >= MOST_LOOKED_AT) return { items, others, next: page.next };
    at = page.next;
  }
};
