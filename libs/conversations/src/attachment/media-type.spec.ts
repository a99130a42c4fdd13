import { mediaTypeOf } from './media-type';

const bytes = (text: string) => Buffer.from(text, 'latin1');

it.each([
  ['%PDF-1.7\n', 'text/plain', 'a.txt', 'application/pdf'],
  ['\u0089PNG\r\n\u001a\n\u0000', 'application/octet-stream', 'a', 'image/png'],
  ['\u00ff\u00d8\u00ff\u00e0', 'image/png', 'a.png', 'image/jpeg'],
  ['GIF89a\u0001\u0000', '', '', 'image/gif'],
  ['GIF87a\u0001\u0000', '', '', 'image/gif'],
  ['RIFF\u0001\u0002\u0003\u0000WEBPVP8 ', '', '', 'image/webp'],
  ['RIFF\u0001\u0002\u0003\u0000WAVEfmt ', 'audio/wav', 'a.wav', undefined],
  ['NONE\u0001\u0002\u0003\u0000WEBPVP8 ', '', '', undefined],
  ['GIF89a is a format', 'text/plain', 'a.txt', 'text/plain'],
  ['# A', 'text/markdown; charset=utf-8', 'a', 'text/markdown'],
  ['# A', 'application/octet-stream', 'A.MD', 'text/markdown'],
  ['<svg/>', 'image/svg+xml', 'a.svg', undefined],
  ['no pdf', 'application/pdf', 'a.pdf', undefined],
  ['PK\u0003\u0004\u0000', 'text/plain', 'a.txt', undefined],
  ['\u00e4', 'text/plain', 'a.txt', undefined],
  ['', 'text/plain', 'a.txt', undefined],
])('tells what %j called %s %s is', (body, declared, name, expected) =>
  expect(mediaTypeOf(bytes(body), declared, name)).toBe(expected),
);
