import { writeModelsFile } from '../../fixtures/models-file';
import { embedByLength, type ProviderDouble, startProviderDouble } from '../../fixtures/provider-double';

/** Texts in one call of the embedding model. */
export const BATCH = 16;

/** The embedding model of each test of a file, which counts. `folder`: where its `MODELS_FILE` is written. */
export const countedEmbeddings = (folder: () => string) => {
  let provider: ProviderDouble;
  let modelsFile: string;
  /** What was embedded, again too, and billed. */
  const texts: string[] = [];
  const hears = (body: Readonly<Record<string, unknown>>): void => void texts.push(...(body['input'] as string[]));
  const answers: ProviderDouble['answer'] = (path, body, response) => {
    hears(body);
    embedByLength(path, body, response);
  };
  beforeEach(async () => {
    provider = await startProviderDouble();
    texts.length = 0;
    provider.answer = answers;
    const models = [{ key: 'lengths', kind: 'embedding', pricing: 'free' }];
    modelsFile = writeModelsFile(folder(), provider, models, { embeddingModel: 'lengths' });
  });
  afterEach(() => provider.stop());
  return {
    texts,
    modelsFile: () => modelsFile,
    answersAll: () => void (provider.answer = answers),
    /** From here on it keeps silent in these calls, the first of which is 1. Answers how many there were. */
    silentIn: (isSilent: (call: number) => boolean): (() => number) => {
      let calls = 0;
      provider.answer = (path, body, response) => {
        calls += 1;
        return isSilent(calls) ? hears(body) : answers(path, body, response);
      };
      return () => calls;
    },
  };
};
