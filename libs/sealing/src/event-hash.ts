import { hash } from 'node:crypto';
import type { NewEvent } from '@app/kernel';

/** The stream of the seals. */
export const SEAL_STREAM = 'sealLog-1';

/**
 * Everything except the seals themselves. No stream is excluded by name: the log does not show a server's own streams,
 * and views read everything that it shows.
 */
export const isSealable = ({ stream }: { readonly stream: string }): boolean => stream !== SEAL_STREAM;

/** What a seal keeps of one event; it stays when the event is removed. */
export interface SealedEvent {
  readonly id: string;
  readonly stream: string;
  readonly revision: number;
  /** SHA-256, hex, over type, data and metadata as they are stored. */
  readonly content: string;
}

/** A part preceded by its length in bytes (a netstring), so two lists of parts never give the same bytes. */
const framed = (part: string): string => `${Buffer.byteLength(part)}:${part},`;

/** SHA-256 of type, data and metadata as they are stored, hexadecimal. */
export const contentHash = ({ type, data, metadata }: Pick<NewEvent, 'type' | 'data' | 'metadata'>): string =>
  hash('sha256', framed(type) + framed(data) + framed(metadata));

/**
 * The leaf of an event in the Merkle tree of its seal: RFC 6962's domain 0x00. It does not include the position, so a
 * proof survives export, import and scavenging.
 */
export const leafHash = ({ id, stream, revision, content }: SealedEvent): Buffer =>
  hash('sha256', `\0${framed(stream)}${framed(String(revision))}${framed(id)}${framed(content)}`, 'buffer');
