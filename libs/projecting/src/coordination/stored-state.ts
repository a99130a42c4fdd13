import type { Json } from '@app/kernel';
import type { ReadStore } from '@app/read-store';

const PAGE = 500;

/** A record in the form it is stored in: the compiler takes it for JSON, and lets JSON be cast to it, where all its fields are. An interface it does not. */
export type Plain<T> = T extends Json ? T : { readonly [Field in keyof T]: Plain<T[Field]> };

/** All entries of the store's small state whose key begins with a prefix. */
export const allState = async (
  store: Pick<ReadStore, 'listState'>,
  prefix: string,
): Promise<readonly { readonly key: string; readonly value: Json }[]> => {
  const found: { key: string; value: Json }[] = [];
  for (;;) {
    const after = found.at(-1)?.key;
    const page = await store.listState(prefix, { ...(after === undefined ? {} : { after }), limit: PAGE });
    for (const entry of page) found.push(entry);
    if (page.length < PAGE) return found;
  }
};
