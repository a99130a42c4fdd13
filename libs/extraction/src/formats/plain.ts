import { markdownBlocks, plainBlocks } from '../blocks';
import { decodeText } from '../encodings';
import { type Block, type Extraction, fail, type SourceFile } from '../extraction';
import type { Format } from '../format';

/** Text, Markdown and source code: as they are, with one kind of line end and without soft hyphens. */
export const extractPlain = (file: SourceFile, format: Format, otherwise?: NotText): Extraction => {
  const text = plainText(file, otherwise);
  return { text, blocks: blocksOf(text, format) };
};

type NotText = 'invalid_text' | 'unsupported_type' | 'malformed';

/** The text of a file of text. Throws `ExtractionFailure` `empty_document`, or `otherwise` where its bytes are no text. */
export const plainText = (
  { body, mimeType }: SourceFile,
  otherwise: NotText = mimeType.startsWith('text/') ? 'invalid_text' : 'unsupported_type',
): string => {
  const text = decodeText(body, otherwise, charsetOf(mimeType))
    .replace(/\r\n?/g, '\n')
    .replace(/\u00ad/g, '');
  return text.trim() === '' ? fail('empty_document') : text;
};

/** The blocks of a text: as Markdown, as lines of code, or as paragraphs. */
export const blocksOf = (text: string, format: Format): readonly Block[] => {
  if (format === 'markdown') return markdownBlocks(text);
  const blocks = plainBlocks(text);
  return format === 'code' ? blocks.map((block) => ({ ...block, kind: 'lines' })) : blocks;
};

/** The charset that a media type names, unless it is the one that clients name for anything. */
export const charsetOf = (mimeType: string): string | undefined => {
  const named = /;\s*charset="?([\w.:-]+)/i.exec(mimeType)?.[1];
  return named === undefined || /^(?:utf-?8|us-ascii)$/i.test(named) ? undefined : named;
};
