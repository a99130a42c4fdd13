import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { floatVector } from '../../../../../test/fixtures/use-lite-float';
import { convert } from './convert';
import { SHORT } from './encoder';
import { MAX_TOKENS, modelIn } from './model';
import { Network } from './network';
import { fastest, finest } from './shape';
import { Tokenizer } from './tokenizer';
import { readVocabulary, readWeights } from './weights';

const made = Promise.all([readWeights(), readVocabulary()]).then(([weights, vocabulary]) => ({
  weights,
  model: modelIn(convert(weights)),
  tokenizer: new Tokenizer(vocabulary),
}));

/** Texts and the vectors that the bundled ONNX runtime gave for them until 1.5, as fractions of 32,767. */
const earlier = JSON.parse(
  readFileSync(join(__dirname, '../../../../../test/fixtures/use-lite-vectors.json'), 'utf8'),
) as Readonly<Record<string, string>>;
const texts = Object.keys(earlier);
const earlierVector = (text: string): number[] => {
  const { buffer } = new Uint8Array(Buffer.from(earlier[text] as string, 'base64'));
  return [...new Int16Array(buffer)];
};

const cosine = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  const dot = (x: ArrayLike<number>, y: ArrayLike<number>): number =>
    Array.from(x).reduce((sum, value, index) => sum + value * (y[index] as number), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
};
const LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 31, 32, 33, 96, 127, MAX_TOKENS];
const tokensOf = (length: number, seed: number): number[] =>
  Array.from({ length }, (_, index) => 6 + ((index * 977 + seed * 131 + index * index) % 7_990));

describe('the network of the local embeddings', () => {
  it('is near the original on floats', async () => {
    const { model, weights, tokenizer } = await made;
    const [fast, fine] = [new Network(model, fastest()), new Network(model, finest())];
    for (const text of texts) {
      const ids = tokenizer.encode(text, 40); // The plain reading is slow.
      const original = floatVector(weights, ids);
      expect(cosine(fine.run(ids), original)).toBeGreaterThan(0.9987);
      expect(cosine(fast.run(ids), original)).toBeGreaterThan(0.9985);
    }
  });

  it('gives documents that were embedded before no other vectors', async () => {
    const { model, tokenizer } = await made;
    const [fast, fine] = [new Network(model, fastest()), new Network(model, finest())];
    for (const text of texts) {
      const ids = tokenizer.encode(text, MAX_TOKENS);
      expect(cosine((ids.length <= SHORT ? fine : fast).run(ids), earlierVector(text))).toBeGreaterThan(0.999);
    }
  });

  it('gives the same on machines without the fastest instructions', async () => {
    const { model } = await made;
    const fast = new Network(model, fastest());
    const plain = new Network(model, fastest({ multiplyAdd: false, dotUnsigned: false }));
    for (const length of LENGTHS) {
      const ids = tokensOf(length, 1);
      expect(cosine(plain.run(ids), fast.run(ids))).toBeGreaterThan(0.9999);
    }
  });

  it('remembers nothing of the text before', async () => {
    const { model } = await made;
    for (const shape of [fastest(), finest(), fastest({ multiplyAdd: false, dotUnsigned: false })]) {
      const used = new Network(model, shape);
      for (const length of [1, 7, 45, 127]) {
        const ids = tokensOf(length, 2);
        used.run(tokensOf(MAX_TOKENS, length));
        expect(used.run(ids)).toEqual(new Network(model, shape).run(ids));
      }
    }
  });
});
