import { decodePassages, encodePassages, passagesFrom, searchedPassage } from './passage-blob';
import type { Passage } from './search-index';

const passage = (ordinal: number, given: Partial<Passage> = {}): Passage => ({
  chunkId: `c${ordinal}`,
  ordinal,
  text: `Zebra\n${ordinal} 🙂`,
  headings: ['A', 'B'],
  start: 0,
  end: 5,
  enabled: true,
  ...given,
});

it('brings passages back as they were, with and without vectors and places', async () => {
  const passages = [
    passage(0),
    passage(1, { vector: Float32Array.of(0.25, -1, 1 / 3), page: 3, slide: 4, sheet: 'Kosten', row: 40 }),
    ...Array.from({ length: 300 }, (_, n) => passage(n + 2, { vector: Float32Array.of(n, 0) })),
  ];
  expect(await decodePassages(await encodePassages(passages))).toEqual(passages);
  expect(await decodePassages(await encodePassages([]))).toEqual([]);
});

it.each([1, 7, 64, 100_000])(
  'gives passages from one on, from pieces of %i bytes, and reads no further than asked',
  async (size) => {
    const passages = Array.from({ length: 60 }, (_, n) => passage(n, { vector: Float32Array.of(n, 0) }));
    const body = await encodePassages(passages);
    let read = 0;
    const pieces = async function* () {
      for (; read < body.length;) yield body.subarray(read, (read += size));
    };
    const found: Passage[] = [];
    for await (const each of passagesFrom(pieces(), 20)) if (found.push(each) === 10) break;
    expect(found).toEqual(passages.slice(20, 30));
    if (size < 1_000) expect(read).toBeLessThan((body.length * 31) / 60);
  },
);

it('keeps that a passage was edited, which an index does not hold', async () => {
  const [edited] = await decodePassages(await encodePassages([{ ...passage(0), edited: true }]));
  expect(edited).toEqual({ ...passage(0), edited: true });
  expect(searchedPassage({ ...passage(0), edited: true })).toEqual(passage(0));
});
