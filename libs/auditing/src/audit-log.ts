import { EVENT_LOG, type EventLog } from '@app/event-log';
import type { Position, StoredEvent } from '@app/kernel';
import { fitting, READ_STORE, type ReadStore } from '@app/read-store';
import { Inject, Injectable } from '@nestjs/common';
import { type EventQuery, matches, tracedOf } from './event-query';
import { indexFilter, indexPage, type Stretch, timeBounds } from './trail-index';

/** Most events that one request looks at; what lies behind is the next page's. */
const MOST_LOOKED_AT = 5_000;
const LOG_PAGE = 500;

/** Which page of events is read. */
export interface EventPageOptions {
  readonly order: 'asc' | 'desc';
  /** Exclusive; null: from the end that the order begins at. */
  readonly after: Position | null;
  readonly limit: number;
}

/** Events in the order asked for. */
export interface EventPage {
  readonly events: readonly StoredEvent[];
  /** Where the next page begins, exclusive; null at the end. A page may be short, or empty, before the end: one of large events is. */
  readonly next: Position | null;
}

/** Reads the log for auditors. Filters are answered from the view `audit-trail`, the events themselves always from the log. */
@Injectable()
export class AuditLog {
  constructor(
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(READ_STORE) private readonly views: ReadStore,
  ) {}

  async page(query: EventQuery, { order, after, limit }: EventPageOptions): Promise<EventPage> {
    const bounds = await timeBounds(this.views, query, order);
    const events: StoredEvent[] = [];
    let upTo = further(order, after, bounds.start);
    for (let lookedAt = 0; lookedAt < MOST_LOOKED_AT;) {
      const stretch = await this.stretch(query, order, upTo, lookedAt === 0 ? Math.min(LOG_PAGE, limit + 1) : LOG_PAGE);
      events.push(...stretch.events);
      const count = fitting(events, limit, ({ data, metadata }) => data.length + metadata.length);
      if (events.length > count) return { events: events.slice(0, count), next: events[count - 1]?.position ?? null };
      upTo = stretch.upTo;
      lookedAt += stretch.lookedAt;
      if (stretch.end || passed(order, upTo, bounds.stop)) return { events, next: null };
      if (events.length === limit) break;
    }
    return { events, next: upTo };
  }

  private async stretch(
    query: EventQuery,
    order: 'asc' | 'desc',
    after: Position | null,
    most: number,
  ): Promise<Stretch> {
    const filter = indexFilter(query);
    if (filter !== undefined) return indexPage(this.views, this.log, query, filter, { order, after, most });
    const page = await this.log.readAll({ direction: order === 'asc' ? 'forwards' : 'backwards', after, limit: most });
    return {
      events: page.events.filter((event) => matches(query, tracedOf(event))),
      lookedAt: most,
      upTo: page.next,
      end: page.end,
    };
  }
}

/** The one of two exclusive starts that lies further in the order. */
const further = (order: 'asc' | 'desc', a: Position | null, b: Position | null): Position | null => {
  if (a === null || b === null) return a ?? b;
  return (order === 'asc') === a > b ? a : b;
};

const passed = (order: 'asc' | 'desc', position: Position | null, stop: Position | null): boolean =>
  stop !== null && position !== null && (order === 'asc' ? position >= stop : position <= stop);
