import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { nameId } from '@app/kernel';
import type { Passage } from '@app/search-index';
import type { ReadDocument } from './read-document';

/** Passages handled without letting anybody else run. */
const STRIDE = 100;

/** Makes something of each passage, or of each chunk, and lets others run in between. */
export const inStrides = async <From, To>(
  all: readonly From[],
  make: (one: From, index: number) => To,
): Promise<To[]> => {
  const made: To[] = [];
  for (const [index, one] of all.entries()) {
    if (index % STRIDE === STRIDE - 1) await setImmediate();
    made.push(make(one, index));
  }
  return made;
};

/** The passages of a document, without vectors yet. Ids follow from document, place and text, so that unchanged passages keep theirs. */
export const passagesOf = (documentId: string, { text, chunks }: ReadDocument): Promise<readonly Passage[]> =>
  inStrides(chunks, ({ headings, start, end, place }, ordinal) => {
    const body = text.slice(start, end);
    return {
      chunkId: nameId(documentId, `${ordinal}:${sha256(body, 'hex')}`),
      ordinal,
      text: body,
      headings,
      start,
      end,
      ...place,
      enabled: true,
    };
  });

/**
 * The embedded text of a passage: the name of its document without the file's extension, the headings above it, and its
 * text, which measured better. If the headings begin with the name, it is not repeated.
 */
export const embeddedText = (name: string, { headings, text }: Pick<Passage, 'headings' | 'text'>): string => {
  const title = name.replace(/\.[a-z][a-z0-9]{0,4}$/i, '');
  return [[...(headings[0] === title ? [] : [title]), ...headings].join(' > '), text]
    .filter((part) => part !== '')
    .join('\n');
};

/** Equal for passages of a document with the same vectors of a model: what a passage is `embeddedAs`. */
export const embeddingKey = (name: string, passage: Pick<Passage, 'headings' | 'text'>): string =>
  sha256(embeddedText(name, passage), 'base64');

/** The same where it was not said: the title may have been any. */
export const legacyEmbeddingKey = ({ headings, text }: Pick<Passage, 'headings' | 'text'>): string =>
  sha256([headings.join(' > '), text].filter((part) => part !== '').join('\n'), 'base64');

const sha256 = (text: string, encoding: 'hex' | 'base64'): string => createHash('sha256').update(text).digest(encoding);
