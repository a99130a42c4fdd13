import type { Json } from '@app/kernel';

/** Injection token of the `CoordinationStore` port. */
export const COORDINATION_STORE = Symbol('CoordinationStore');

/** An entry, by key. */
export interface Entry {
  readonly key: string;
  readonly value: Json;
}

/**
 * The port through which processes coordinate: leases, claims, requests to each other, idempotency keys and rate
 * limits. Small JSON values by key, changed by compare-and-set and kept over a restart. A write is visible to other
 * processes at once.
 */
export interface CoordinationStore {
  /** Undefined where there is no such entry. */
  read(key: string): Promise<Json | undefined>;
  /** The entries whose keys begin with a prefix, by key: after `after`, at most `limit` (1,000). */
  list(prefix: string, options?: { readonly after?: string; readonly limit?: number }): Promise<readonly Entry[]>;
  /**
   * Writes an entry; null removes it. With `expected` only where the present value equals it (undefined: where there is none), and false
   * where it does not.
   */
  write(key: string, value: Json | null, options?: { readonly expected: Json | undefined }): Promise<boolean>;
  health(): Promise<{ readonly ok: boolean; readonly reason?: string }>;
  close(): Promise<void>;
}

const PAGE = 500;

/** All entries that a list holds, page after page. */
export const allEntries = async (
  list: (options: { readonly after?: string; readonly limit: number }) => Promise<readonly Entry[]>,
): Promise<readonly Entry[]> => {
  const found: Entry[] = [];
  for (;;) {
    const after = found.at(-1)?.key;
    const page = await list({ ...(after === undefined ? {} : { after }), limit: PAGE });
    for (const entry of page) found.push(entry);
    if (page.length < PAGE) return found;
  }
};
