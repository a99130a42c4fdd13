import {
  type ForeignEvents,
  logSource,
  type NotedStranger,
  type SourceItem,
  type Stranger,
  type VerifySource,
} from '@app/sealing';
import { HttpLogReader } from './http-log-reader';
import { type PlatformClient, Rejected } from './platform-client';

const PATH = '/api/v1/audit/foreign-events';
const MOST_IN_A_PAGE = 100;

interface Page {
  readonly items: readonly NotedStranger[];
  readonly others: ForeignEvents;
  readonly nextCursor: string | null;
}

/** The source for verifying a running server: our events byte for byte, and what is needed of others'. */
export const httpSource = (api: PlatformClient): VerifySource => {
  const ours = logSource(new HttpLogReader(api));
  return { ...ours, events: () => inLogOrder(ours.events(), strangersOf(api)) };
};

/** What other programs wrote. A server of an earlier version does not tell, and takes it for ours. */
async function* strangersOf(api: PlatformClient): AsyncGenerator<Stranger | { readonly passedOver: ForeignEvents }> {
  for (let cursor: string | undefined; ;) {
    const page = await api.json<Page>(PATH, { query: { limit: MOST_IN_A_PAGE, cursor } }).catch(noneIfUnknown);
    for (const { contentHash: content, inStreamOfOurs: isAmongOurs, ...place } of page.items)
      yield { ...place, type: '', data: '', metadata: '', content, isAmongOurs };
    if (page.others.events > 0) yield { passedOver: page.others };
    if (page.nextCursor === null) return;
    cursor = page.nextCursor;
  }
}

const noneIfUnknown = (error: unknown): Page => {
  if (error instanceof Rejected && error.code === 'not_found')
    return { items: [], others: { events: 0, since: null }, nextCursor: null };
  throw error;
};

/** Both are in log order. What has no place, such as damage or a count, comes as soon as it is met. */
async function* inLogOrder(
  ours: AsyncIterable<SourceItem>,
  strangers: AsyncIterator<SourceItem>,
): AsyncGenerator<SourceItem> {
  let stranger = await strangers.next();
  for await (const item of ours) {
    while (stranger.done !== true && isBefore(stranger.value, item)) {
      yield stranger.value;
      stranger = await strangers.next();
    }
    yield item;
  }
  for (; stranger.done !== true; stranger = await strangers.next()) yield stranger.value;
}

const isBefore = (stranger: SourceItem, item: SourceItem): boolean =>
  !('position' in stranger) || ('position' in item && String(stranger.position) < String(item.position));
