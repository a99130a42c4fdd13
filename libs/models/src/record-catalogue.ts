import { type CommandMeta, type Decisions, stepOf } from '@app/kernel';
import type { Catalogue, ModelDescription } from './catalogue';
import { modelDecider, modelListDecider } from './model.decider';
import type { RecordedModel } from './model.events';

const LIST_ID = 'catalogue';

/**
 * Writes what the catalogue says to the log, so that models and prices have a history; what stands there already is not
 * written again. The list of models is written last: a crash before it is made good by the next recording.
 */
export const recordCatalogue = async (
  decisions: Decisions,
  { models, defaultModel, embeddingModel, rerankerModel }: Catalogue,
  meta: CommandMeta,
): Promise<void> => {
  const { state: before } = await decisions.load(modelListDecider, LIST_ID);
  const record = (key: string, model: ModelDescription | undefined): Promise<unknown> =>
    decisions.transact(modelDecider, key, model === undefined ? null : recorded(model), stepOf(meta, `model ${key}`));
  for (const key of before?.keys ?? []) if (!models.has(key)) await record(key, undefined);
  for (const [key, model] of models) await record(key, model);
  await decisions.transact(
    modelListDecider,
    LIST_ID,
    { keys: [...models.keys()], defaultModel, embeddingModel, rerankerModel },
    stepOf(meta, 'models'),
  );
};

const recorded = ({
  modelId,
  provider,
  kind,
  displayName,
  region,
  securityTier,
  locationLabel,
  tags,
  pricing,
  priceVersion,
}: ModelDescription): RecordedModel => ({
  modelId,
  provider,
  kind,
  displayName,
  region,
  securityTier,
  locationLabel,
  tags,
  pricing:
    pricing === 'free'
      ? pricing
      : Object.fromEntries(
          Object.entries(pricing).flatMap(([name, price]) => (price === undefined ? [] : [[name, price]])),
        ),
  priceVersion,
});
