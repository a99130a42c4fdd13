import type { KeyOwner, Keyring, KeySelector, RetryOptions } from '@app/kernel';

/** Injection token of the `Vault` port. */
export const VAULT = Symbol('Vault');
/** Injection token of the secret that wraps the data keys in the vault. */
export const VAULT_KEY = Symbol('VaultKey');

/** An aggregate whose data key is destroyed, and since when. */
export interface DestroyedKey {
  readonly stream: string;
  /** ISO 8601 UTC. */
  readonly at: string;
}

/** What a vault knows of an aggregate, an entity or an owner, to copy to another vault. A key stays wrapped under `VAULT_KEY`, as base64. */
export type KeyRecord =
  | { readonly kind: 'destroyedOwner'; readonly owner: string; readonly at: string }
  | { readonly kind: 'destroyed'; readonly stream: string; readonly at: string; readonly cause: string }
  | { readonly kind: 'key'; readonly stream: string; readonly owner: KeyOwner; readonly wrapped: string };

/**
 * The port of data keys: one per aggregate (a stream) and per entity with its own key (`dataKeyName`), wrapped under
 * `VAULT_KEY` and kept apart from the log and its backups. Every parameter that names a stream accepts an entity.
 */
export interface Vault extends Keyring {
  /**
   * Destroys keys for good, those of an aggregate with those of its entities, and answers what they belonged to, in order: of what
   * goes with its aggregate, the aggregate alone. Repeating it gives the same answer. From then on `keys` omits them, and `ensureKey`
   * rejects them, entities of theirs, and anything else of that user or Space.
   */
  destroy(selector: KeySelector): Promise<readonly string[]>;
  /** Aggregates of an owner whose keys exist; with both a user and a Space, those of both. */
  streams(owner: KeyOwner): Promise<readonly string[]>;
  /** Destroyed aggregates with the time, for restores and receipts: pages after an aggregate's name. */
  destroyed(after: string | null, limit: number): Promise<readonly DestroyedKey[]>;
  /** Everything the vault knows: destroyed owners, then aggregates, then existing keys. With `options` it retries while its server does not answer. */
  records(options?: RetryOptions): AsyncIterable<KeyRecord>;
  /**
   * Imports what another vault under the same `VAULT_KEY` knows, in the order of `records`. May be repeated. What either of
   * the two knows to be destroyed stays destroyed. Answers how many keys were left out for that. Throws `WrongVaultKey` if a
   * key is wrapped under another, before it imports any of that call.
   */
  merge(records: readonly KeyRecord[]): Promise<{ readonly erased: number }>;
  /** What was last noted beside the keys. It goes with them into copies of the vault as it is stored; undefined: nothing, as behind a `merge`. */
  note(): Promise<string | undefined>;
  setNote(text: string): Promise<void>;
  health(): Promise<{ readonly ok: boolean; readonly reason?: string }>;
  close(): Promise<void>;
}
