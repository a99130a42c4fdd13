import { isUtf8 } from 'node:buffer';
import { IngestionFailure } from './ingestion-failure';

export type TextKind = 'markdown' | 'plain';

const KINDS: Readonly<Record<string, TextKind>> = {
  'text/markdown': 'markdown',
  'text/x-markdown': 'markdown',
  'text/plain': 'plain',
};

/**
 * The text of a file: UTF-8, without byte order mark, lines ended by `\n`. Offsets of passages count in its characters.
 * Throws `IngestionFailure` `unsupported_type`, `invalid_text` or `empty_document`.
 */
export const extractText = (body: Buffer, mimeType: string): { readonly text: string; readonly kind: TextKind } => {
  const kind = KINDS[(mimeType.split(';')[0] ?? '').trim().toLowerCase()];
  if (kind === undefined) throw new IngestionFailure('unsupported_type');
  if (!isUtf8(body)) throw new IngestionFailure('invalid_text');
  const text = body
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n');
  if (text.includes('\0')) throw new IngestionFailure('invalid_text');
  if (text.trim() === '') throw new IngestionFailure('empty_document');
  return { text, kind };
};
