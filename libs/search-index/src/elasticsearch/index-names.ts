import { createHash } from 'node:crypto';
import type { Position } from '@app/kernel';
import type { Scope } from '../search-index';

/** Names indexes, aliases and records. Each instance of the product has its own prefix. */
export class IndexNames {
  constructor(private readonly prefix: string) {}

  /** Matches every index of the instance, and none of another whose prefix begins with this one: no name of an index has a dash. */
  get all(): string {
    return `${this.prefix}-*-v*,-${this.prefix}-*-*-v*`;
  }

  /** The alias of the live version, for searches. */
  alias(index: string): string {
    return `${this.prefix}-${index}`;
  }

  version(index: string, version: number): string {
    return `${this.alias(index)}-v${version}`;
  }

  /** The alias for writes, which require it to be an alias: a write to a dropped version creates no index. */
  writer(index: string, version: number): string {
    return `${this.version(index, version)}-writer`;
  }

  versions(index: string): string {
    return `${this.alias(index)}-v*`;
  }

  /** The version in the name of an index; undefined for other names. */
  versionOf(index: string, name: string): number | undefined {
    const start = `${this.alias(index)}-v`;
    const number = name.startsWith(start) ? name.slice(start.length) : '';
    return /^\d+$/.test(number) ? Number(number) : undefined;
  }
}

export const checkpointId = (slice: number): string => `checkpoint:${slice}`;
export const scopeId = (scope: Scope): string => `scope:${scope}`;
export const documentKey = (documentId: string): string => `document:${documentId}`;
export const passageId = (documentId: string, put: Position, number: number): string =>
  `passage:${documentId}:${put}:${number}`;
/** Of earlier versions, which wrote each put over the one before. */
export const slotId = (documentId: string, slot: number): string => `passage:${documentId}:${slot}`;

/** The field for vectors of one model and length. Only these are compared. */
export const vectorField = (model: string, dimensions: number): string =>
  `vector_${dimensions}_${createHash('sha256').update(model).digest('hex').slice(0, 16)}`;

/** A position as the external version of a record: a whole number below 2^63, as text since it may be more than a double holds. Throws `RangeError` for other positions. */
export const versionText = (position: Position): string => {
  const digits = /^0*(\d{1,18})$/.exec(position)?.[1];
  if (digits === undefined) throw new RangeError('Elasticsearch takes positions of up to 18 digits only');
  return digits;
};
