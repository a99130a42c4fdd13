/** The owner of a data key. Destroying the keys of a user or a Space finds it by these. */
export interface KeyOwner {
  readonly userId?: string;
  readonly spaceId?: string;
}

/** Selects data keys: that of one aggregate, or all of a user or a Space. */
export type KeySelector = { readonly stream: string } | { readonly userId: string } | { readonly spaceId: string };

/** A 32-byte AES-256 data key. */
export type DataKey = Buffer;

/** The part of the vault that reading and writing events needs. One data key an aggregate, which is a stream. */
export interface Keyring {
  /** The key of an aggregate, made at first use. Throws `DomainError('not_found')` if it was destroyed: erased content stays erased. */
  ensureKey(stream: string, owner: KeyOwner): Promise<DataKey>;
  /** The keys of aggregates. Destroyed and missing ones are absent. */
  keys(streams: readonly string[]): Promise<ReadonlyMap<string, DataKey>>;
}
