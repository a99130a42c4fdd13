import {
  changedThroughout,
  type DataKey,
  dataKeyIn,
  decryptField,
  type EncryptedField,
  ERASED,
  fieldPlace,
  isEncrypted,
  type Json,
  type StoredEvent,
  storedMeta,
  storedObject,
} from '@app/kernel';

/** What is read in place of content that the reader did not ask to see, or may not. */
export const ENCRYPTED = Object.freeze({ encrypted: true as const });

/** What is read in place of what cannot be read at all: nobody but somebody who changed the stored bytes left it so. */
export const UNREADABLE = Object.freeze({ unreadable: true as const });

/** A stored event as auditors read it: the data in the schema it was stored in, never lifted to a newer one. */
export interface ShownEvent {
  readonly id: string;
  readonly position: string;
  /** Its number in the sealed order of the log, from 1; null until a seal covers it. */
  readonly ordinal: number | null;
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly schema: number;
  /** Encrypted fields read `{ encrypted: true }` or, with content, their value; erased ones `{ erased: true }`; damaged ones, or data as a whole, `{ unreadable: true }`. */
  readonly data: Readonly<Record<string, Json>>;
  readonly meta: Readonly<Record<string, string>>;
  /** ISO 8601 UTC. */
  readonly recordedAt: string;
  /** The stored bytes, base64, which the seals are over. */
  readonly raw?: { readonly data: string; readonly metadata: string };
}

/** How much of an event is shown. */
export interface ShowOptions {
  /** Decrypts what has a key. */
  readonly content: boolean;
  /** Adds the stored bytes. */
  readonly raw: boolean;
}

/** Shows one event. `keys` are the data keys that exist, by name: a field without its key is erased. */
export const shownEvent = (
  event: StoredEvent,
  ordinal: number | null,
  keys: ReadonlyMap<string, DataKey>,
  options: ShowOptions,
): ShownEvent => {
  const meta = storedMeta(event.metadata);
  const data = storedObject(event.data) ?? UNREADABLE;
  const key = keys.get(dataKeyIn(event.stream, meta));
  return {
    id: event.id,
    position: event.position,
    ordinal,
    stream: event.stream,
    revision: event.revision,
    type: event.type,
    schema: Number(meta['schema'] ?? 1),
    data: changedThroughout(data, '', (value, path) =>
      shownField(event.stream, path, value, key, options.content),
    ) as Record<string, Json>,
    meta,
    recordedAt: meta['recordedAt'] ?? '',
    ...(options.raw ? { raw: { data: base64(event.data), metadata: base64(event.metadata) } } : {}),
  };
};

/** True when the event holds content that a key can still open. */
export const holdsContent = (event: StoredEvent, keys: ReadonlyMap<string, DataKey>): boolean =>
  keys.has(contentKeyOf(event)) && isEncryptedSomewhere(storedObject(event.data) ?? null);

/** The name of the data key that the content of an event is under. */
export const contentKeyOf = ({ stream, metadata }: StoredEvent): string => dataKeyIn(stream, storedMeta(metadata));

const isEncryptedSomewhere = (value: Json): boolean =>
  isEncrypted(value) ||
  (typeof value === 'object' && value !== null && Object.values(value).some(isEncryptedSomewhere));

/** Fields that are made of secrets: they are nobody's to see, also not with content. */
const OF_SECRETS: ReadonlySet<string> = new Set(['secretHash']);

/**
 * Copies of what documents say, kept for the conversations that they were made for: the request to a provider, and what an answer that
 * waits may cite. Earlier versions kept them under the keys of messages alone, so they outlive their documents. Auditors read documents
 * where these stand, as long as they do.
 */
const COPIES: ReadonlySet<string> = new Set(['provenance.request.template', 'passages', 'sources']);

/** Undefined for what is shown as it stands. */
const shownField = (
  stream: string,
  path: string,
  value: Json,
  key: DataKey | undefined,
  content: boolean,
): Json | undefined => {
  if (OF_SECRETS.has(path)) return key === undefined ? { ...ERASED } : { ...ENCRYPTED };
  if (!isEncrypted(value)) return undefined;
  if (key === undefined) return { ...ERASED };
  return content && !COPIES.has(path) ? decrypted(key, fieldPlace(stream, path), value) : { ...ENCRYPTED };
};

const decrypted = (key: DataKey, ...field: [place: string, value: EncryptedField]): Json => {
  try {
    return decryptField(key, ...field) as Json;
  } catch {
    // Whatever its key does not open was changed in the store. The rest of the page is shown.
    return { ...UNREADABLE };
  }
};

const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
