import type { Blobs } from '@app/blobs';
import type { ReadStore } from '@app/read-store';
import type { SearchIndex } from '@app/search-index';
import type { Projection } from '../projection';
import { rowView } from './row-view';
import { SearchView } from './search-view';
import type { ViewStore } from './view-store';

/** The stores that views live in. */
export interface ViewStores {
  readonly readStore: ReadStore;
  readonly searchIndex: SearchIndex;
  readonly blobs: Blobs;
}

/** `shared`: several projectors may write the view, so that it is divided into slices where its projection allows that. */
export const viewStore = (
  projection: Projection,
  { readStore, searchIndex, blobs }: ViewStores,
  shared: boolean,
): ViewStore =>
  projection.kind === 'rows'
    ? rowView(projection, readStore, shared)
    : (new SearchView(projection, searchIndex, blobs, readStore) as ViewStore);
