import { createHash } from 'node:crypto';
import type { Position } from '@app/kernel';
import type { Scope } from '../search-index';

/** How indexes, aliases and records are called. One prefix is one instance of the product. */
export class IndexNames {
  constructor(private readonly prefix: string) {}

  /** Every index of the instance. */
  get all(): string {
    return `${this.prefix}-*`;
  }

  /** What searches ask: an alias of the live version. */
  alias(index: string): string {
    return `${this.prefix}-${index}`;
  }

  version(index: string, version: number): string {
    return `${this.alias(index)}-v${version}`;
  }

  /** What writes name and demand to be an alias: a write to a version that was dropped makes no new index of that name. */
  writer(index: string, version: number): string {
    return `${this.version(index, version)}-writer`;
  }

  versions(index: string): string {
    return `${this.alias(index)}-v*`;
  }

  /** Number of a version by the name of its index; undefined for a name that is none. */
  versionOf(index: string, name: string): number | undefined {
    const start = `${this.alias(index)}-v`;
    const number = name.startsWith(start) ? name.slice(start.length) : '';
    return /^\d+$/.test(number) ? Number(number) : undefined;
  }
}

export const checkpointId = (slice: number): string => `checkpoint:${slice}`;
export const scopeId = (scope: Scope): string => `scope:${scope}`;
export const documentKey = (documentId: string): string => `document:${documentId}`;
/** Passages stand in numbered slots of their document, so that they are replaced and removed without a search for them. */
export const slotId = (documentId: string, slot: number): string => `passage:${documentId}:${slot}`;

/** The field of the vectors of one model and length: only these are compared. */
export const vectorField = (model: string, dimensions: number): string =>
  `vector_${dimensions}_${createHash('sha256').update(model).digest('hex').slice(0, 16)}`;

/** A position as the external version of a record: a whole number below 2^63, as text since it may be more than a double holds. Throws `RangeError` for other positions. */
export const versionText = (position: Position): string => {
  const digits = /^0*(\d{1,18})$/.exec(position)?.[1];
  if (digits === undefined) throw new RangeError('Elasticsearch takes positions of up to 18 digits only');
  return digits;
};
