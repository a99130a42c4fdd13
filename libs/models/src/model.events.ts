import { defineEvent, type EventsOf } from '@app/kernel';
import { z } from 'zod';
import { securityTier } from './security-tier';

/** Prices as the catalogue states them: decimal strings by what they are for, or `free`. */
const recordedPricing = z.union([z.literal('free'), z.record(z.string(), z.union([z.string(), z.number(), z.null()]))]);

export const recordedModel = z.strictObject({
  modelId: z.string(),
  provider: z.string(),
  kind: z.string(),
  displayName: z.string(),
  region: z.string().nullable(),
  securityTier,
  locationLabel: z.string().nullable(),
  tags: z.array(z.string()),
  pricing: recordedPricing,
  priceVersion: z.string(),
});
/** A model as the log describes it; null for what the catalogue does not say. */
export type RecordedModel = z.output<typeof recordedModel>;

export const modelOffered = defineEvent({
  type: 'ModelOffered',
  description: 'A model was added to the catalogue, or its description or prices changed. Holds the complete entry.',
  data: recordedModel,
});

export const modelWithdrawn = defineEvent({
  type: 'ModelWithdrawn',
  description: 'A model was removed from the catalogue.',
  data: z.strictObject({}),
});

export const modelsListed = defineEvent({
  type: 'ModelsListed',
  description: 'The model catalogue now has these models and defaults.',
  data: z.strictObject({
    keys: z.array(z.string()),
    defaultModel: z.string(),
    embeddingModel: z.string(),
    rerankerModel: z.string(),
  }),
});

export const modelEvents = [modelOffered, modelWithdrawn, modelsListed] as const;
export type ModelEvent = EventsOf<[typeof modelOffered, typeof modelWithdrawn]>;
export type ModelListEvent = EventsOf<[typeof modelsListed]>;
