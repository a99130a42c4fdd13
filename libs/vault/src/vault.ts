import type { KeyOwner, Keyring, KeySelector, Patience } from '@app/kernel';

/** Injection token of the `Vault` port. */
export const VAULT = Symbol('Vault');

export interface DestroyedKey {
  readonly thing: string;
  /** ISO 8601 UTC. */
  readonly at: string;
}

/** What a vault knows of a thing or an owner, to be carried to another vault; a key stays wrapped under `VAULT_KEY`, as base64. */
export type KeyRecord =
  | { readonly kind: 'destroyedOwner'; readonly owner: string; readonly at: string }
  | { readonly kind: 'destroyed'; readonly thing: string; readonly at: string; readonly cause: string }
  | { readonly kind: 'key'; readonly thing: string; readonly owner: KeyOwner; readonly wrapped: string };

/** The port of data keys: one per thing (a stream), wrapped under `VAULT_KEY`, apart from the log and its backups. */
export interface Vault extends Keyring {
  /**
   * Destroys keys for good and answers the things they belonged to, in order; repeating it gives the same answer. From then
   * on `keys` leaves them out, and `ensureKey` refuses them and whatever else would belong to that user or Space.
   */
  destroy(selector: KeySelector): Promise<readonly string[]>;
  /** Things of an owner whose keys exist; with both a user and a Space, those of both. */
  things(owner: KeyOwner): Promise<readonly string[]>;
  /** Destroyed things with the time, for restores and receipts: pages after a thing's name. */
  destroyed(after: string | null, limit: number): Promise<readonly DestroyedKey[]>;
  /** Everything the vault knows: first the owners that were destroyed, then the things, then the keys there are. With patience a server that goes away meanwhile is waited for. */
  records(patience?: Patience): AsyncIterable<KeyRecord>;
  /**
   * Takes over what another vault under the same `VAULT_KEY` knows, in the order of `records`; again and again, if need be.
   * What either of the two knows to be destroyed stays so. Answers how many keys were left out for that.
   * Throws `WrongVaultKey` when a key is wrapped under another, before it takes any of that call.
   */
  merge(records: readonly KeyRecord[]): Promise<{ readonly erased: number }>;
  health(): Promise<{ readonly ok: boolean; readonly reason?: string }>;
  close(): Promise<void>;
}
