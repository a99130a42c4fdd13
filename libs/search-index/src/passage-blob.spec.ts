import { decodePassages, encodePassages } from './passage-blob';
import type { Passage } from './search-index';

const passage = (ordinal: number, given: Partial<Passage> = {}): Passage => ({ chunkId: `c${ordinal}`, ordinal, text: `Zebra\n${ordinal} 🙂`, headings: ['A', 'B'], start: 0, end: 5, enabled: true, ...given });

it('brings passages back as they were, with and without vectors and pages', async () => {
  const passages = [passage(0), passage(1, { vector: Float32Array.of(0.25, -1, 1 / 3), page: 3 }), ...Array.from({ length: 300 }, (_, n) => passage(n + 2, { vector: Float32Array.of(n, 0) }))];
  expect(await decodePassages(await encodePassages(passages))).toEqual(passages);
  expect(await decodePassages(await encodePassages([]))).toEqual([]);
});
