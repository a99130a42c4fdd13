import { createHash } from 'node:crypto';
import { canonicalJson } from '@app/kernel';
import type { IndexedDocument } from './search-index';

/** SHA-256 of everything that an index holds of a document: tags in order, passages by ordinal and chunk id, vectors as single floats. The same on every engine. */
export const documentDigest = (document: IndexedDocument): string =>
  createHash('sha256').update(canonicalJson(document)).digest('hex');
