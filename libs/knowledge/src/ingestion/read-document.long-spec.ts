import { processorTime } from '../../../../test/fixtures/processor-time';
import { IngestionFailure } from './ingestion-failure';
import { readDocument } from './read-document';

const MEBIBYTE = 1024 ** 2;
const filled = (piece: string, mebibytes: number): Buffer => Buffer.alloc(mebibytes * MEBIBYTE, piece);

it.each<readonly [string, string, string, mebibytes: number]>([
  ['short sentences in one paragraph', 'ab. ', 'text/markdown', 16],
  ['words in lines of code', 'a b\n', 'text/markdown', 16],
  ['paragraphs of a word', 'a\n\n', 'text/plain', 16],
  ['empty lines around a word', `a${'\n'.repeat(MEBIBYTE)}`, 'text/markdown', 16],
  ['headings', '# a\n', 'text/markdown', 16],
  ['one word', 'x', 'text/plain', 48],
])('rejects what cannot fit before it is cut: %s', (_, piece, mimeType, mebibytes) => {
  const body = filled(piece, mebibytes);
  const spent = processorTime();
  expect(() => readDocument({ file: { name: '', mimeType, body } }, null)).toThrow(
    new IngestionFailure('too_many_passages'),
  );
  expect(spent()).toBeLessThan(5_000);
});

it('cuts what is as long as a document may be', () => {
  const text = `${'# Heading of a chapter\n'.repeat(50_000)}\n${'word '.repeat(1_000_000)}`;
  expect(
    readDocument({ file: { name: '', mimeType: 'text/markdown', body: Buffer.from(text) } }, null).chunks.length,
  ).toBeGreaterThanOrEqual(10_000);
});
