import { defineEvent, type EventsOf, heldBlob, releasedBlobs, sensitive, textSchema } from '@app/kernel';
import { z } from 'zod';

const id = z.uuid();

/** Longest summary that is kept, characters. */
export const LONGEST_SUMMARY = 4_000;

export const sectionSummaryAdded = defineEvent({
  type: 'SectionSummaryAdded',
  description:
    'A cluster of chunks, or of summaries of the level below, was summarised. The summary is part of the index when its build is done.',
  data: z.strictObject({
    agentId: id,
    spaceId: id,
    build: z.number().int().positive(),
    level: z.number().int().positive(),
    documentIds: z.array(id),
    summaryIds: z.array(id),
    text: sensitive(textSchema(LONGEST_SUMMARY)),
    model: z.string(),
  }),
});

export const sectionSummaryEmbedded = defineEvent({
  type: 'SectionSummaryEmbedded',
  description: 'A summary was embedded. Its stored vector replaces the earlier one, which `superseded` names.',
  data: z.strictObject({ vector: heldBlob(), embeddingModel: z.string(), superseded: releasedBlobs() }),
});

export const sectionSummaryRemoved = defineEvent({
  type: 'SectionSummaryRemoved',
  description: 'A summary was removed: its source is gone, or no index refers to it any more.',
  data: z.strictObject({ agentId: id, blobs: releasedBlobs() }),
});

export const sectionSummaryEvents = [sectionSummaryAdded, sectionSummaryEmbedded, sectionSummaryRemoved];
export type SectionSummaryEvent = EventsOf<typeof sectionSummaryEvents>;
