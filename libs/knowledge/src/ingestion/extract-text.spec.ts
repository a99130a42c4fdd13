import { extractText } from './extract-text';

it('reads UTF-8 without its mark, with one kind of line end', () =>
  expect(extractText(Buffer.from('\ufeffGrüße\r\naus\rKöln 🙂'), 'text/markdown; charset=utf-8')).toEqual({
    text: 'Grüße\naus\nKöln 🙂',
    kind: 'markdown',
  }));

it.each([
  ['another type', Buffer.from('%PDF-1.7'), 'application/pdf', 'unsupported_type'],
  ['bytes that are no UTF-8', Buffer.from([0x66, 0xff, 0xfe]), 'text/plain', 'invalid_text'],
  ['NUL', Buffer.from('a\0b'), 'text/plain', 'invalid_text'],
  ['nothing', Buffer.alloc(0), 'text/plain', 'empty_document'],
  ['white space', Buffer.from(' \n\t '), 'text/plain', 'empty_document'],
])('fails with a reason on %s', (_, body, mimeType, code) =>
  expect(() => extractText(body, mimeType)).toThrow(expect.objectContaining({ code })),
);
