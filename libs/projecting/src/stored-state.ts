import type { Json } from '@app/kernel';
import type { ReadStore } from '@app/read-store';

const PAGE = 500;

/** All entries of the store's small state whose key begins with a prefix. */
export const allState = async (store: ReadStore, prefix: string): Promise<readonly { readonly key: string; readonly value: Json }[]> => {
  const found: { key: string; value: Json }[] = [];
  for (;;) {
    const after = found.at(-1)?.key;
    const page = await store.listState(prefix, { ...(after === undefined ? {} : { after }), limit: PAGE });
    found.push(...page);
    if (page.length < PAGE) return found;
  }
};
