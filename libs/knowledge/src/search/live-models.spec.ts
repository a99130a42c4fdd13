import type { Embedding } from '../embed-metered';
import { SearchedModels } from './live-models';

const embedding = (key: string): Embedding => ({ model: { key } }) as Embedding;
const scopes = ['agent/a'];

/** The models to search with while documents have vectors of `present`, which changes with time. */
const searched = (configured: readonly string[], present: string[]) => {
  let now = 0;
  const models = new SearchedModels(
    { embedding: () => embedding('new'), otherEmbeddings: () => configured.map(embedding) },
    { models: async () => present, hasModel: async (model: string) => present.includes(model) },
    () => now,
  );
  return async (at: number) => {
    now = at;
    const { embeddings, isOneGone } = await models.at(scopes);
    return { keys: embeddings.map(({ model }) => model.key), isOneGone };
  };
};

describe('the models that are searched', () => {
  it('are the present one, and for a while those whose last vectors were swapped', async () => {
    const present = ['old', 'new'];
    const at = searched(['old'], present);
    expect(await at(0)).toEqual({ keys: ['new', 'old'], isOneGone: false });
    present.shift();
    expect(await at(5_000)).toEqual({ keys: ['new', 'old'], isOneGone: false });
    expect(await at(20_000)).toEqual({ keys: ['new'], isOneGone: false });
  });

  it('lack one that is configured no more, until the index surely shows its documents swapped', async () => {
    const present = ['old', 'new'];
    const at = searched([], present);
    expect(await at(0)).toEqual({ keys: ['new'], isOneGone: true });
    present.shift();
    expect(await at(5_000)).toEqual({ keys: ['new'], isOneGone: true });
    expect(await at(20_000)).toEqual({ keys: ['new'], isOneGone: false });
  });
});
