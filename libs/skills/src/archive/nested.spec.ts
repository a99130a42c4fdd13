import { docxFile, zipFile } from '../../../../test/fixtures/files/office';
import { isArchive } from './nested';

const bytes = (...parts: readonly (string | number)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.alloc(part) : Buffer.from(part, 'latin1'))));

it.each<readonly [string, Buffer]>([
  ['a zip', zipFile({ a: 'b' })],
  ['a zip behind other bytes', bytes('#!/bin/sh\n', zipFile({ a: 'b' }).toString('latin1'))],
  ['a zip before other bytes', bytes(zipFile({ a: 'b' }).toString('latin1'), 'more')],
  ['the end of a zip', bytes('PK\x05\x06', 18)],
  ['a part of a zip', bytes('PK\x07\x08rest')],
  ['gzip', bytes('\x1f\x8b\x08\0')],
  ['compress', bytes('\x1f\x9d\x90')],
  ['7z', bytes("7z\xbc\xaf'\x1c\0\x04")],
  ['rar', bytes('Rar!\x1a\x07\x01\0')],
  ['xz', bytes('\xfd7zXZ\0\0')],
  ['zstandard', bytes('\x28\xb5\x2f\xfd\0')],
  ['lz4', bytes('\x04\x22\x4d\x18\0')],
  ['cab', bytes('MSCF\0\0\0\0')],
  ['bzip2', bytes('BZh91AY&SY\0')],
  ['tar', bytes(257, 'ustar\0', 249)],
  ['tar of GNU', bytes(257, 'ustar  \0', 247)],
])('%s is an archive under any name', (_, body) => {
  expect(isArchive('notes.txt', body)).toBe(true);
  expect(isArchive('form.docx', body)).toBe(true);
});

it('is an archive by its name', () => expect(isArchive('a/B.Tar', Buffer.from('text'))).toBe(true));

it.each<readonly [string, string, Buffer]>([
  ['a document of an office program', 'form.docx', docxFile([{ text: 'Form.' }])],
  ['a text about archives', 'zip.md', Buffer.from('PK, BZh9 and ustar\0 begin some.')],
  ['nothing', 'empty', Buffer.alloc(0)],
  ['what begins almost like compress', 'a.bin', bytes('\x1f\x9d\x42')],
  ['the two bytes that compress begins with', 'a.bin', bytes('\x1f\x9d')],
  ['a picture', 'a.png', bytes('\x89PNG\r\n\x1a\n', 300)],
  ['the beginning of an end', 'a.bin', bytes('text PK\x05\x06')],
  ['many ends of nothing', 'a.bin', Buffer.from('PK\x05\x06'.repeat(100_000), 'latin1').subarray(2)],
])('%s is none', (_, path, body) => expect(isArchive(path, body)).toBe(false));

it('is looked for in a file that consists of ends without a search from each', () => {
  const searched = jest.spyOn(Buffer.prototype, 'lastIndexOf');
  expect(isArchive('a.bin', bytes('x', 'PK\x05\x06'.repeat(20_000)))).toBe(false);
  expect(searched.mock.calls.length).toBeLessThan(2);
  searched.mockRestore();
});
