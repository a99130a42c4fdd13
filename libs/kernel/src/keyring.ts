/** Whom a data key belongs to: destroying a user's or a Space's keys finds it by these. */
export interface KeyOwner {
  readonly userId?: string;
  readonly spaceId?: string;
}

/** Which data keys: that of one thing, or all of a user or of a Space. */
export type KeySelector = { readonly thing: string } | { readonly userId: string } | { readonly spaceId: string };

/** A 32-byte AES-256 data key. */
export type DataKey = Buffer;

/** The part of the vault that reading and writing events needs. One data key per thing; a thing is a stream. */
export interface Keyring {
  /** The key of a thing, made at first use. Throws `DomainError('not_found')` when it was destroyed: what is erased stays so. */
  ensureKey(thing: string, owner: KeyOwner): Promise<DataKey>;
  /** The keys of things; those destroyed or never made are absent. */
  keys(things: readonly string[]): Promise<ReadonlyMap<string, DataKey>>;
}
