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
