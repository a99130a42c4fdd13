import type { Blobs } from '@app/blobs';
import type { ReadStore } from '@app/read-store';
import type { SearchIndex } from '@app/search-index';
import type { Projection } from './projection';
import { RowView } from './row-view';
import { SearchView } from './search-view';
import type { ViewStore } from './view-store';

/** The stores that views live in. */
export interface ViewStores {
  readonly readStore: ReadStore;
  readonly searchIndex: SearchIndex;
  readonly blobs: Blobs;
}

export const viewStore = (projection: Projection, { readStore, searchIndex, blobs }: ViewStores): ViewStore =>
  (projection.kind === 'rows' ? new RowView(projection, readStore) : new SearchView(projection, searchIndex, blobs, readStore)) as ViewStore;
