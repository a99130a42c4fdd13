import type { StoredEvent } from '@app/kernel';

/** What the server calls the first revision that is kept. */
export const TRUNCATE_BEFORE = '$tb';

/** What a stream's metadata say, whoever wrote them. */
export interface StreamMetadata {
  /** Revision of the metadata themselves; -1 where there are none. */
  readonly revision: number;
  /** Events before this revision were removed; 0 when none were, beyond every revision after a soft deletion. */
  readonly before: number;
  readonly all: Readonly<Record<string, unknown>>;
}

/** Reads the newest event of a stream, of the server's own too, within so many milliseconds. Throws `Unavailable`. */
export type ReadLast = (stream: string, milliseconds: number) => Promise<StoredEvent | undefined>;

export const metastreamOf = (stream: string): string => `$$${stream}`;
const isMetastream = (stream: string): boolean => stream.startsWith('$$');

const NONE: StreamMetadata = { revision: -1, before: 0, all: {} };

/** Metadata have none of their own. */
export const readMetadata = async (
  readLast: ReadLast,
  stream: string,
  milliseconds: number,
): Promise<StreamMetadata> => {
  if (isMetastream(stream)) return NONE;
  const last = await readLast(metastreamOf(stream), milliseconds);
  if (last === undefined) return NONE;
  const all = objectOf(last.data);
  const before = all[TRUNCATE_BEFORE];
  return { revision: last.revision, before: typeof before === 'number' ? before : 0, all };
};

/** A soft deletion hides all events until the stream is written again; the server marks it with the largest revision of 64 bits. */
export const isSoftDeleted = ({ before }: StreamMetadata): boolean => before >= Number.MAX_SAFE_INTEGER;

/** Limits that hide the oldest events of a stream, and that a scavenge removes them by. The platform never sets one. */
const LIMITS = ['$maxCount', '$maxAge'];

/** The limit that others gave a stream; undefined for none. */
export const limitIn = ({ all }: StreamMetadata): string | undefined => LIMITS.find((limit) => limit in all);

/** The server takes metadata that are no JSON object for none. */
const objectOf = (json: string): Readonly<Record<string, unknown>> => {
  try {
    const parsed: unknown = JSON.parse(json);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};
