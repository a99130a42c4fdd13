import type { CoordinationStore } from '@app/coordination';
import { renewReadScope } from '@app/kernel';
import type { ReadStore } from '@app/read-store';
import type { SearchIndex } from '@app/search-index';

type Reads<Store> = {
  readonly [Name in keyof Store]: Store[Name] extends (...given: never[]) => Promise<unknown> ? Name : never;
}[keyof Store];

/** What is read elsewhere may tell of what came after the log was asked, also by others' claims and leases: whoever goes on from there has it asked anew. */
export const asNewerReads = ({
  readStore,
  searchIndex,
  coordination,
}: {
  readonly readStore: ReadStore;
  readonly searchIndex: SearchIndex;
  readonly coordination: CoordinationStore;
}): void => {
  renewing(readStore, ['get', 'getMany', 'find', 'count', 'readState', 'listState', 'writeState']);
  renewing(searchIndex, ['search', 'scopesWith']);
  renewing(coordination, ['read', 'list', 'write']);
};

const renewing = <Store extends object>(store: Store, names: readonly Reads<Store>[]): void => {
  for (const name of names) {
    const read = (store[name] as (...given: unknown[]) => Promise<unknown>).bind(store);
    const renewed = async (...given: unknown[]): Promise<unknown> => {
      const found = await read(...given);
      renewReadScope();
      return found;
    };
    Object.assign(store, { [name]: renewed });
  }
};
