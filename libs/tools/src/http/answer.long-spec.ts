import { Readable } from 'node:stream';
import { queryObjects } from 'node:v8';
import { answerText } from './answer';

it('An answer that comes byte by byte is read, and takes no object for each byte', async () => {
  const bytes = Buffer.from('Grüße, '.repeat(2_000));
  const counts: number[] = [];
  const buffers = (): void => void counts.push(queryObjects(Buffer, { format: 'count' }));
  async function* body() {
    buffers();
    for (const byte of bytes) yield Buffer.of(byte);
    buffers();
  }
  const { text, isCut } = await answerText(Readable.from(body()), { 'content-type': 'text/plain' });
  expect([text, isCut]).toEqual([bytes.toString(), false]);
  const [before = 0, after = Infinity] = counts;
  expect(after - before).toBeLessThan(bytes.length / 10);
});
