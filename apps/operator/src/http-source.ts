import {
  type ForeignEvents,
  logSource,
  type NotedForeignEvent,
  type SourceItem,
  type ForeignItem,
  type VerifySource,
} from '@app/sealing';
import { HttpLogReader } from './http-log-reader';
import { type PlatformClient, Rejected } from './platform-client';

const PATH = '/api/v1/audit/foreign-events';
const MOST_IN_A_PAGE = 100;

interface Page {
  readonly items: readonly NotedForeignEvent[];
  readonly others: ForeignEvents;
  readonly nextCursor: string | null;
}

/** The source for verifying a running server: our events byte for byte, and what is needed of others'. */
export const httpSource = (api: PlatformClient): VerifySource => {
  const ours = logSource(new HttpLogReader(api));
  return { ...ours, events: () => inLogOrder(ours.events(), foreignItemsOf(api)) };
};

/** What other programs wrote. A server of an earlier version does not tell, and takes it for ours. */
async function* foreignItemsOf(
  api: PlatformClient,
): AsyncGenerator<ForeignItem | { readonly passedOver: ForeignEvents }> {
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
  foreign: AsyncIterator<SourceItem>,
): AsyncGenerator<SourceItem> {
  let next = await foreign.next();
  for await (const item of ours) {
    while (next.done !== true && isBefore(next.value, item)) {
      yield next.value;
      next = await foreign.next();
    }
    yield item;
  }
  for (; next.done !== true; next = await foreign.next()) yield next.value;
}

const isBefore = (foreign: SourceItem, item: SourceItem): boolean =>
  !('position' in foreign) || ('position' in item && String(foreign.position) < String(item.position));
