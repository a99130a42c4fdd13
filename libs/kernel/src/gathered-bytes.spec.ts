import { GatheredBytes, inBlocks } from './gathered-bytes';

const KIB = 1024;
const bytes = (length: number): Buffer =>
  Buffer.alloc(length, Buffer.from(Array.from({ length: 251 }, (_, index) => index)));
const cut = (whole: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
    whole.subarray(index * size, (index + 1) * size),
  );

describe('gathered bytes', () => {
  it.each([
    [0, 1],
    [1, 1],
    [1_024, 1],
    [5_000, 1],
    [5_000, 7],
    [300 * KIB, 64 * KIB],
  ])('of %i in pieces of %i are what came', (length, size) => {
    const gathered = new GatheredBytes();
    for (const piece of cut(bytes(length), size)) gathered.add(piece);
    expect(gathered).toHaveLength(length);
    expect(gathered.whole().equals(bytes(length))).toBe(true);
  });

  it('are not those of the piece that came, which its owner may write over', () => {
    const gathered = new GatheredBytes();
    const piece = Buffer.from('a');
    gathered.add(piece);
    const whole = gathered.whole();
    piece.fill('b');
    expect(whole.toString()).toBe('a');
  });
});

describe('blocks of bytes', () => {
  it.each([
    [0, 1, []],
    [5, 1, [5]],
    [64 * KIB, 1_000, [64 * KIB]],
    [200 * KIB, 1, [64 * KIB, 64 * KIB, 64 * KIB, 8 * KIB]],
    [200 * KIB, 150 * KIB, [64 * KIB, 64 * KIB, 64 * KIB, 8 * KIB]],
  ])('of %i bytes in pieces of %i are of one size up to the last', async (length, size, sizes) => {
    async function* source() {
      yield* cut(bytes(length), size);
    }
    const blocks: Buffer[] = [];
    for await (const block of inBlocks(source())) blocks.push(block);
    expect(blocks.map((block) => block.length)).toEqual(sizes);
    expect(Buffer.concat(blocks).equals(bytes(length))).toBe(true);
  });

  it('end their source where nobody wants more', async () => {
    let ended = false;
    async function* source() {
      try {
        for (;;) yield bytes(64 * KIB);
      } finally {
        ended = true;
      }
    }
    for await (const block of inBlocks(source())) if (block.length > 0) break;
    expect(ended).toBe(true);
  });
});
