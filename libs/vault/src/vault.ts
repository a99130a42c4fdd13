import type { KeyOwner, Keyring } from '@app/kernel';

/** Injection token of the `Vault` port. */
export const VAULT = Symbol('Vault');

/** Whose keys to destroy: one thing's, or all that belong to a user or to a Space. */
export type KeySelector = { readonly thing: string } | { readonly userId: string } | { readonly spaceId: string };

export interface DestroyedKey {
  readonly thing: string;
  /** ISO 8601 UTC. */
  readonly at: string;
}

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
  health(): Promise<{ readonly ok: boolean; readonly reason?: string }>;
  close(): Promise<void>;
}
