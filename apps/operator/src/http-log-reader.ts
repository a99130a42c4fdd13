import { LogCorrupted, type LogPage, type LogReader, type ReadAllOptions } from '@app/event-log';
import type { Position, ReadStreamOptions, StoredEvent } from '@app/kernel';
import { type Ask, type PlatformClient, Rejected } from './platform-client';

const PATH = '/api/v1/audit/events';
const MOST_IN_A_PAGE = 100;

interface RawEvent {
  readonly id: string;
  readonly position: Position;
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly raw: { readonly data: string; readonly metadata: string };
}

interface Page {
  readonly items: readonly RawEvent[];
  readonly nextCursor: string | null;
}

/**
 * Reads the log of a running server over its audit API, byte for byte, as an auditor without access to the machine
 * does. Throws the same errors as the log for damage that the server reports.
 */
export class HttpLogReader implements LogReader {
  /** Positions by stream and revision, since the API pages by position. */
  private readonly positions = new Map<string, Position>();

  constructor(private readonly api: PlatformClient) {}

  async readAll({
    direction = 'forwards',
    after = null,
    limit = MOST_IN_A_PAGE,
    filter,
  }: ReadAllOptions = {}): Promise<LogPage> {
    const stream = filter?.streamPrefixes?.[0];
    const { items, nextCursor } = await this.page({
      order: direction === 'forwards' ? 'asc' : 'desc',
      after: after ?? undefined,
      limit: Math.min(limit, MOST_IN_A_PAGE),
      stream,
    });
    return { events: items.map(stored), next: items.at(-1)?.position ?? after, end: nextCursor === null };
  }

  async readStream(
    stream: string,
    { from = 0, direction = 'forwards', limit = MOST_IN_A_PAGE }: ReadStreamOptions = {},
  ): Promise<readonly StoredEvent[]> {
    const order = direction === 'forwards' ? 'asc' : 'desc';
    const after = order === 'asc' && from > 0 ? this.positions.get(`${stream}@${from - 1}`) : undefined;
    const { items } = await this.page({ stream, order, after, limit: Math.min(limit, MOST_IN_A_PAGE) });
    for (const { revision, position } of items) this.positions.set(`${stream}@${revision}`, position);
    return items.map(stored);
  }

  async head(): Promise<Position | null> {
    const { items } = await this.page({ order: 'desc', limit: 1 });
    return items[0]?.position ?? null;
  }

  async close(): Promise<void> {
    this.positions.clear();
  }

  /** The next page that is not empty. A filtered page may be empty before the end. */
  private async page(query: NonNullable<Ask['query']>): Promise<Page> {
    for (let cursor: string | undefined; ;) {
      const page = await this.ask({ ...query, raw: true, cursor });
      if (page.items.length > 0 || page.nextCursor === null) return page;
      cursor = page.nextCursor;
    }
  }

  private async ask(query: NonNullable<Ask['query']>): Promise<Page> {
    try {
      return await this.api.json<Page>(PATH, { query });
    } catch (error) {
      if (!(error instanceof Rejected) || error.code !== 'log_damaged') throw error;
      const [fault] = error.facts['errors'] as readonly { readonly path: string }[];
      throw new LogCorrupted(fault?.path ?? 'an unknown place', String(error.facts['detail']));
    }
  }
}

const stored = ({ id, position, stream, revision, type, raw }: RawEvent): StoredEvent => ({
  id,
  position,
  stream,
  revision,
  type,
  data: text(raw.data),
  metadata: text(raw.metadata),
});

const text = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8');
