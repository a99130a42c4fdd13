import { Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { FrameReader, FrameWriter } from './frames';

const file = (sizeBytes: number) => ({ file: { path: 'a', mediaType: 'text/plain', sizeBytes, sha256: '' } });

it('Frames and bytes are written some together, and read as they were written', async () => {
  const pieces: Buffer[] = [];
  let writes = 0;
  const to = new Writable({
    writev(chunks, done) {
      writes += 1;
      pieces.push(...chunks.map(({ chunk }) => chunk as Buffer));
      setImmediate(done);
    },
  });
  const writer = new FrameWriter(to);
  const bodies = Array.from({ length: 1_000 }, (_, index) => Buffer.alloc(index === 500 ? 300_000 : 1_000, index));
  for (const body of bodies) await writer.write(file(body.length), body);
  await writer.write({ end: true });
  await writer.flush();
  expect(writes).toBeLessThan(25);
  const reader = new FrameReader(Readable.from([await buffer(Readable.from(pieces))]));
  for (const body of bodies) {
    expect(await reader.frame()).toEqual(file(body.length));
    expect(body.equals((await reader.bytes(body.length)) ?? Buffer.alloc(0))).toBe(true);
  }
  expect(await reader.frame()).toEqual({ end: true });
  expect(await reader.frame()).toBeUndefined();
});
