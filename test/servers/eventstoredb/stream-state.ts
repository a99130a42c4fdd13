import { type Recorded, TOMBSTONE } from './recorded-event';

/** What a stream's metadata stream says, as the server writes it. */
export type StreamMetadata = Readonly<Record<string, unknown>>;

/** One stream. Its events stand at their revisions; truncated and deleted ones stay, since no scavenge ever runs. */
export interface StreamState {
  readonly name: string;
  readonly events: Recorded[];
  metadata: StreamMetadata;
  tombstone: Recorded | undefined;
}

/** What one append, deletion or reopening adds to one stream. Without records it is an empty append. */
export interface LogWrite {
  readonly stream: string;
  readonly records: readonly Recorded[];
  readonly isTombstone: boolean;
  /** What the metadata of the original stream are from now on, where this is a metastream. */
  readonly metadata: StreamMetadata | undefined;
  /** Where the next write begins. */
  readonly end: number;
}

/** Streams by their names, as far as writes were taken in. */
export class StreamStates {
  private readonly states = new Map<string, StreamState>();

  find(name: string): StreamState | undefined {
    return this.states.get(name);
  }

  of(name: string): StreamState {
    const known = this.states.get(name);
    if (known !== undefined) return known;
    const created: StreamState = { name, events: [], metadata: {}, tombstone: undefined };
    this.states.set(name, created);
    return created;
  }

  take({ stream, records, isTombstone, metadata }: LogWrite): void {
    const state = this.of(stream);
    if (isTombstone) state.tombstone = records[0];
    else state.events.push(...records);
    if (metadata !== undefined) this.of(originalOf(stream)).metadata = metadata;
  }
}

export const isMetastream = (stream: string): boolean => stream.startsWith('$$');
export const metastreamOf = (stream: string): string => `$$${stream}`;
export const originalOf = (metastream: string): string => metastream.slice(2);

/** Deleted, but not for ever: a later append reopens it. */
export const isSoftDeleted = ({ metadata }: StreamState): boolean => metadata['$tb'] === TOMBSTONE;

/** The first revision that readers get; past the last event when all are truncated. */
export const firstReadable = ({ name, events, metadata }: StreamState, now: number): number => {
  const kept = isMetastream(name) ? 1 : metadata['$maxCount'];
  const first = Math.max(numeric(metadata['$tb']), typeof kept === 'number' ? events.length - kept : 0, 0);
  const maxAge = metadata['$maxAge'];
  if (typeof maxAge !== 'number') return first;
  const young = events.findIndex((event, revision) => revision >= first && event.created > now - maxAge * 1000);
  return young < 0 ? events.length : young;
};

/** Metadata that is no JSON object counts as none. */
export const parseMetadata = (data: Uint8Array): StreamMetadata => {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(data).toString());
    return typeof parsed === 'object' && parsed !== null ? (parsed as StreamMetadata) : {};
  } catch {
    return {};
  }
};

const numeric = (value: unknown): number => (typeof value === 'number' ? value : 0);
