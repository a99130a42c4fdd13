/** The owner of a data key. Destroying the keys of a user or a Space finds it by these. */
export interface KeyOwner {
  readonly userId?: string;
  readonly spaceId?: string;
}

/** Selects data keys: that of one aggregate with those of its entities, that of one entity (`dataKeyName`), or all of a user or a Space. */
export type KeySelector = { readonly stream: string } | { readonly userId: string } | { readonly spaceId: string };

/** A 32-byte AES-256 data key. */
export type DataKey = Buffer;

/**
 * The name of a data key: the stream of an aggregate, or an entity in it that has a key of its own, `<stream>/<entity>`. Destroying
 * the key of a stream destroys those of its entities. Names are storage formats.
 */
export const dataKeyName = (stream: string, entity?: string): string =>
  entity === undefined ? stream : `${stream}/${entity}`;

/** The stream and, if the key is that of an entity, its id. */
export const dataKeyPlace = (name: string): { readonly stream: string; readonly entity?: string } => {
  const slash = name.indexOf('/');
  return slash < 0 ? { stream: name } : { stream: name.slice(0, slash), entity: name.slice(slash + 1) };
};

/**
 * The part of the vault that reading and writing events needs. One data key per aggregate, which is a stream, and one
 * for each entity with its own.
 */
export interface Keyring {
  /**
   * The key of an aggregate or of an entity (`dataKeyName`), made at first use. The key of an entity is made with its
   * aggregate's, and has the same owner. Throws `DomainError('not_found')` if it was destroyed: erased content stays
   * erased.
   */
  ensureKey(name: string, owner: KeyOwner): Promise<DataKey>;
  /** The keys with these names. Destroyed and missing ones are absent. */
  keys(names: readonly string[]): Promise<ReadonlyMap<string, DataKey>>;
}
