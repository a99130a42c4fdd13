import type { KeyOwner, Keyring } from '@app/kernel';

/** Injection token of the `Vault` port. */
export const VAULT = Symbol('Vault');

/** The port of data keys: one per thing (a stream), wrapped under `VAULT_KEY`, apart from the log and its backups. */
export interface Vault extends Keyring {
  /** Destroys keys for good and answers the things they belonged to. From then on `keys` leaves them out and `ensureKey` refuses. */
  destroy(selector: { readonly thing: string } | KeyOwner): Promise<readonly string[]>;
  /** Things of an owner whose keys exist. */
  things(owner: KeyOwner): Promise<readonly string[]>;
  /** Destroyed things with the time, for restores and receipts: pages after a thing's name. */
  destroyed(after: string | null, limit: number): Promise<readonly { readonly thing: string; readonly at: string }[]>;
  health(): Promise<{ readonly ok: boolean; readonly reason?: string }>;
  close(): Promise<void>;
}
