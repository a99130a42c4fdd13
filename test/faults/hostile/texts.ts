import { deflateSync } from 'node:zlib';
import { jpegFile, pngFile } from '../../fixtures/files/png';
import type { HostileFile } from './files';

const MEGA = 1_000_000;
const ole = Buffer.from('d0cf11e0a1b11ae1', 'hex');
const nestedMail = (depth: number): string =>
  `${Array.from({ length: depth }, (_, level) => `Content-Type: multipart/mixed; boundary="b${level}"\r\n\r\n--b${level}\r\n`).join('')}Content-Type: text/plain\r\n\r\nx`;
const mail = (body: string): string => `From: a@example.com\r\nTo: b@example.com\r\nMIME-Version: 1.0\r\n${body}`;
const pngChunk = (name: string, length: number, body: Buffer): Buffer => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(length);
  head.write(name, 4, 'latin1');
  return Buffer.concat([pngFile().subarray(0, 33), head, body]);
};
const of = (name: string, body: string | Buffer, code?: string): HostileFile => ({
  name,
  body: Buffer.from(body as Buffer),
  ...(code === undefined ? {} : { code }),
});

const json = (): readonly HostileFile[] => [
  of('deep.json', '['.repeat(MEGA), 'malformed'),
  of('deep-closed.json', `${'['.repeat(MEGA)}1${']'.repeat(MEGA)}`, 'malformed'),
  of('deep-objects.json', `${'{"a":'.repeat(300_000)}1${'}'.repeat(300_000)}`, 'malformed'),
  of('deep-lines.jsonl', '{"a":1}\n'.repeat(200_000)),
  of('proto.json', '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}},"a":"b"}', 'Ready'),
  of('keys.json', `{${Array.from({ length: MEGA }, (_, index) => `"k${index}":1`).join(',')}}`),
  of('numbers.json', `[${'1e400,'.repeat(500_000)}0]`),
  of('number.json', `[${'9'.repeat(5 * MEGA)}]`),
  of('string.json', `"${'x'.repeat(40 * MEGA)}"`),
  of('escapes.json', `"${'\\u0000\\ud800'.repeat(100_000)}a"`, 'Ready'),
  of('open.json', `{"a":"${'x'.repeat(MEGA)}`, 'malformed'),
  of('nothing.json', '{"a":null,"b":[],"c":{}}', 'no_text'),
  of('long-path.json', `{${`"${'k'.repeat(1_000)}":{`.repeat(150)}"a":1${'}'.repeat(150)}}`),
];

const rtf = (): readonly HostileFile[] => [
  of('deep.rtf', `{\\rtf1 ${'{'.repeat(MEGA)}`, 'malformed'),
  of('closed.rtf', `{\\rtf1 x${'}'.repeat(MEGA)}`, 'Ready'),
  of('bin.rtf', '{\\rtf1 a\\bin2147483647 b', 'Ready'),
  of('bin-back.rtf', '{\\rtf1 a\\bin-5 b}', 'Ready'),
  of('hex.rtf', `{\\rtf1 ${"\\'e4".repeat(3 * MEGA)}}`),
  of('unicode.rtf', `{\\rtf1 \\uc16 ${'\\u-10179?'.repeat(500_000)}}`),
  of('words.rtf', `{\\rtf1 ${'\\b'.repeat(3 * MEGA)}}`, 'no_text'),
  of('cells.rtf', `{\\rtf1 ${'x\\cell '.repeat(2 * MEGA)}\\row}`),
  of(
    'fonts.rtf',
    `{\\rtf1 {\\fonttbl${Array.from({ length: 100_000 }, (_, index) => `{\\f${index}\\fcharset${index} a;}`).join('')}}x}`,
    'Ready',
  ),
  of('groups.rtf', `{\\rtf1 ${'{a}'.repeat(2 * MEGA)}}`),
  of(
    'object.rtf',
    '{\\rtf1 {\\object\\objdata 0105000002}{\\field{\\*\\fldinst INCLUDEPICTURE "http://127.0.0.1:9/a.png"}{\\fldrslt x}}}',
    'Ready',
  ),
];

const mails = (): readonly HostileFile[] => [
  of('nested.eml', mail(nestedMail(10_000)), 'malformed'),
  of('messages.eml', `${mail('Content-Type: message/rfc822\r\n\r\n').repeat(5_000)}x`),
  of('header.eml', mail(`X-Long: ${'x'.repeat(5 * MEGA)}\r\n\r\nx`), 'malformed'),
  of('headers.eml', mail(`${'X-A: b\r\n'.repeat(500_000)}\r\nx`), 'malformed'),
  of('parts.eml', mail(`Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\n\r\nx\r\n'.repeat(100_000)}--b--`)),
  of(
    'attachments.eml',
    mail(
      `Content-Type: multipart/mixed; boundary=b\r\n\r\n${'--b\r\nContent-Disposition: attachment; filename="../../a.txt"\r\n\r\nx\r\n'.repeat(5_000)}--b--`,
    ),
    'malformed',
  ),
  of('addresses.eml', mail(`Cc: ${'<a@b>,'.repeat(100_000)}\r\n\r\nx`)),
  of('groups.eml', mail(`Cc: ${'g:'.repeat(100_000)}\r\n\r\nx`)),
  of('comments.eml', mail(`Reply-To: ${'('.repeat(200_000)}\r\n\r\nx`)),
  of('words.eml', mail(`Subject: ${'=?utf-8?Q?a?= '.repeat(60_000)}\r\n\r\nx`)),
  of('base64.eml', mail(`Content-Transfer-Encoding: base64\r\n\r\n${'!!!!'.repeat(2 * MEGA)}`)),
  of('flowed.eml', mail(`Content-Type: text/plain; format=flowed\r\n\r\n${'> '.repeat(2 * MEGA)}`)),
  of('charset.eml', mail('Content-Type: text/plain; charset="../../x"\r\n\r\nx'), 'Ready'),
  of('html.eml', mail(`Content-Type: text/html\r\n\r\n${'<div>'.repeat(100_000)}x`)),
];

const pages = (): readonly HostileFile[] => [
  of('deep.html', `<html>${'<div>'.repeat(MEGA)}x`, 'malformed'),
  of('deep-inline.html', `<html>${'<b>'.repeat(MEGA)}x`, 'malformed'),
  of('paragraphs.html', `<html>${'<p>'.repeat(MEGA)}x`, 'Ready'),
  of('closings.html', `<html>x${'</div>'.repeat(MEGA)}`, 'Ready'),
  of('tables.html', `<html>${'<table><tr><td>'.repeat(1_500)}x`),
  of('attributes.html', `<html><p ${Array.from({ length: 300_000 }, (_, index) => `a${index}`).join(' ')}>x`, 'Ready'),
  of('style.html', `<html><p style="${'display '.repeat(500_000)}">x`, 'Ready'),
  of('comment.html', `<html>x<!--${'-'.repeat(5 * MEGA)}`, 'Ready'),
  of('entities.html', `<html>${'&amp'.repeat(MEGA)}`),
  of('unknown-entities.html', `<html>${'&aaaaaaaaaaaaaaa'.repeat(300_000)}`),
  of('angles.html', `<html>${'<'.repeat(5 * MEGA)}`),
  of('script.html', `<html>x<script>${'<script '.repeat(500_000)}`, 'Ready'),
  of('title.html', `<html><title>${'x '.repeat(MEGA)}`),
  of('cdata.html', `<html>x${'<![CDATA['.repeat(500_000)}`),
  of(
    'fetch.html',
    '<html><p>x</p><img src="http://127.0.0.1:9/a"><iframe src="http://127.0.0.1:9/b"></iframe><link rel=stylesheet href="http://127.0.0.1:9/c">',
    'Ready',
  ),
  of('meta.html', `<html><meta ${' charset'.repeat(100_000)}>x`, 'Ready'),
];

const tables = (): readonly HostileFile[] => [
  of('columns.csv', `${Array.from({ length: MEGA }, (_, index) => `c${index}`).join(',')}\n${'1,'.repeat(MEGA)}`),
  of('rows.csv', 'a,b\n'.repeat(MEGA)),
  of(
    'header.csv',
    `${`${'h'.repeat(1_000)},`.repeat(100)}\n${`${'1,'.repeat(100)}\n`.repeat(5_000)}`,
    'too_many_passages',
  ),
  of('quote.csv', `a,b\n"${'x,'.repeat(5 * MEGA)}`),
  of('quotes.csv', '"'.repeat(3 * MEGA)),
  of('delimiters.csv', ','.repeat(5 * MEGA), 'no_text'),
  of('lines.csv', '\n'.repeat(5 * MEGA), 'empty_document'),
  of('nul.csv', Buffer.alloc(1_000), 'invalid_text'),
  of('spaces.tsv', `${' '.repeat(5 * MEGA)}x`, 'Ready'),
];

const pictures = (): readonly HostileFile[] => [
  of('chunk.png', pngChunk('tEXt', 0xffffffff, Buffer.from('a\0b')), 'Ready'),
  of(
    'bomb.png',
    pngChunk('zTXt', 1_000_000, Buffer.concat([Buffer.from('a\0\0'), deflateSync(Buffer.alloc(900 * 1024 ** 2, 'a'))])),
    'no_text',
  ),
  of('chunks.png', Buffer.concat([pngFile().subarray(0, 33), Buffer.alloc(12 * 400_000)]), 'no_text'),
  of('xmp.png', pngFile({ 'XML:com.adobe.xmp': `<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>` }), 'no_text'),
  of('xmp-deep.png', pngFile({ 'XML:com.adobe.xmp': '<a>'.repeat(100_000) }), 'no_text'),
  of('packets.png', pngFile({ 'XML:com.adobe.xmp': '<?xpacket'.repeat(400_000) }), 'no_text'),
  of('segment.jpg', Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 0, 0xff, 0xe1, 0xff, 0xff]), 'no_text'),
  of('directory.jpg', jpegFile(0x8769, 'AAAAAAAA')),
  of('circle.tif', Buffer.from('49492a000800000001000e01020004000000616263000800000008000000', 'hex')),
  of('offset.tif', Buffer.from('49492a00ffffffff', 'hex'), 'no_text'),
];

const traps = (): readonly HostileFile[] => [
  of('spaces.txt', `a${' '.repeat(10 * MEGA)}b`),
  of('blank.txt', `a${'\n \t'.repeat(3 * MEGA)}b`),
  of('surrogates.txt', Buffer.alloc(2 * MEGA, Buffer.from([0xd8, 0xd8]))),
  of('soft.txt', `a${'\u00ad'.repeat(3 * MEGA)}b`, 'Ready'),
  of('marks.md', `${'#'.repeat(3 * MEGA)}`),
  of('links.md', '[a]('.repeat(MEGA)),
  of('fields.txt', `${'From:'.repeat(MEGA)}`),
  of('hyphens.ts', `${'- '.repeat(MEGA)}`),
  of(
    'encrypted.xlsx',
    Buffer.concat([ole, Buffer.alloc(512), Buffer.from('EncryptedPackage', 'utf16le')]),
    'encrypted',
  ),
  of('old.doc', Buffer.concat([ole, Buffer.alloc(5_000)]), 'unsupported_type'),
  of('a.gz.docx', Buffer.from('1f8b0800', 'hex'), 'unsupported_type'),
  of('program.pdf', Buffer.concat([Buffer.from('7f454c46', 'hex'), Buffer.alloc(5_000)]), 'unsupported_type'),
  of('nothing.pdf', '', 'empty_document'),
  of('nothing.docx', '', 'empty_document'),
  of('noise.bin', Buffer.from(Array.from({ length: 5_000 }, (_, index) => (index * 7919) % 256)), 'unsupported_type'),
];

/** Files of text and pictures that are deep, long, open, or made for expressions that go back. */
export const texts = (): readonly HostileFile[] => [
  ...json(),
  ...rtf(),
  ...mails(),
  ...pages(),
  ...tables(),
  ...pictures(),
  ...traps(),
];
