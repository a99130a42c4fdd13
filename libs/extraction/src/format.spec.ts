import { failure, read, shown } from '../../../test/fixtures/files/extracted';
import { xlsxFile, zipFile } from '../../../test/fixtures/files/office';
import { pdfFile, pdfLines } from '../../../test/fixtures/files/pdf';
import { pngFile } from '../../../test/fixtures/files/png';

describe('source code', () => {
  it('keeps its lines', async () =>
    expect((await read('const a = 1;\n\n  // Ende\n', 'a.ts')).blocks).toEqual([
      { kind: 'lines', start: 0, end: 12 },
      { kind: 'lines', start: 16, end: 23 },
    ]));
});

describe('bytes decide where name and type lie', () => {
  const html = '<!DOCTYPE html><h1>Zebras</h1>';
  it.each([
    ['a PDF called text', pdfFile([pdfLines(['Zebras'])]), 'a.txt', 'text/plain', ['Zebras @1']],
    ['a workbook called Word', xlsxFile({ S: [['Zebras']] }), 'a.docx', '', ['# S @S', 'Zebras. @S,1']],
    ['a page called text', Buffer.from(html), 'a.txt', 'text/plain', ['# Zebras', 'Zebras']],
    ['text called PDF', Buffer.from('Zebras'), 'a.pdf', 'application/pdf', ['Zebras']],
    ['an image called JPEG', pngFile({ Title: 'Zebras' }), 'a.jpg', 'image/jpeg', ['Title: Zebras']],
    [
      'a mail without a name',
      Buffer.from('From: a@b.c\nTo: d@e.f\nSubject: S\n\nZebras'),
      '',
      '',
      ['# S', 'From: a@b.c\nTo: d@e.f\nSubject: S', 'Zebras'],
    ],
  ])('%s is read as what it is', async (_, body, name, mimeType, blocks) =>
    expect(await shown(body, name, mimeType)).toEqual(blocks),
  );

  it.each([
    ['an archive of something', zipFile({ 'a.txt': 'a' }), '', '', 'unsupported_type'],
    ['an archive that is cut off', zipFile({ 'a.txt': 'a' }).subarray(0, 20), '', '', 'malformed'],
    ['bytes', Buffer.from([1, 2, 3, 4, 0, 255]), 'a.bin', 'application/octet-stream', 'unsupported_type'],
    ['bytes called text', Buffer.from([1, 2, 3, 4, 0, 255]), 'a.txt', 'text/plain', 'invalid_text'],
    ['nothing', Buffer.alloc(0), 'a.txt', 'text/plain', 'empty_document'],
    [
      'an Office document with a password',
      Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.from('EncryptedPackage', 'utf16le')]),
      'a.docx',
      '',
      'encrypted',
    ],
    [
      'an old Word document',
      Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(500)]),
      'a.doc',
      '',
      'unsupported_type',
    ],
  ])('%s fails with its code', async (_, body, name, mimeType, code) =>
    expect(await failure(body, name, mimeType)).toBe(code),
  );
});

describe('encodings are told apart', () => {
  const text = 'Grüße aus Köln: die Straße ist lang, „schön“ und übersichtlich – für alle Gäste.';
  const utf16be = (given: string): Buffer => Buffer.from(given, 'utf16le').swap16();
  it.each([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with its mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16 LE with its mark', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16 BE with its mark', utf16be(`\ufeff${text}`)],
    ['UTF-16 LE', Buffer.from(text, 'utf16le')],
    ['UTF-16 BE', utf16be(text)],
    ['Windows-1252', Buffer.from(text.replace('„', '\x84').replace('“', '\x93').replace('–', '\x96'), 'latin1')],
  ])('text in %s is read whole', async (_, body) => expect((await read(body, 'a.txt', 'text/plain')).text).toBe(text));

  it('ISO 8859-1, and a charset that lies', async () => {
    const plain = 'Größe, Übung, Straße und Äpfel für Jürgen: größer als üblich.';
    expect((await read(Buffer.from(plain, 'latin1'), 'a.txt')).text).toBe(plain);
    expect((await read(Buffer.from(plain), 'a.txt', 'text/plain; charset=iso-8859-1')).text).toBe(plain);
    expect((await read(Buffer.from(plain, 'latin1'), 'a.txt', 'text/plain; charset=utf-8')).text).toBe(plain);
  });

  it('without soft hyphens, and with one kind of line end', async () =>
    expect((await read('Donau\u00addampf\r\nschiff\rfahrt', 'a.txt')).text).toBe('Donaudampf\nschiff\nfahrt'));
});
