import { defineEvent, type EventsOf, heldBlob, releasedBlobs } from '@app/kernel';
import { z } from 'zod';

const id = z.uuid();
const count = z.number().int().nonnegative();
const buildNumber = z.number().int().positive();

/** `build` makes what is missing; `rebuild` makes everything anew. */
export const buildMode = z.enum(['build', 'rebuild']);
export type BuildMode = z.output<typeof buildMode>;

/** The most that a build takes: calls to models, their tokens, and what they cost, a decimal in the currency of the instance. */
export const buildEstimate = z.strictObject({ calls: count, tokens: count, cost: z.string() });
export type BuildEstimate = z.output<typeof buildEstimate>;

export const summaryIndexBuildStarted = defineEvent({
  type: 'SummaryIndexBuildStarted',
  description:
    'A build of the section-summary index of an Agent was started. The present index stays until the build is done.',
  data: z.strictObject({
    agentId: id,
    spaceId: id,
    /** Names the request: repeated, it is the same build. */
    buildId: id,
    build: buildNumber,
    mode: buildMode,
    model: z.string(),
    estimate: buildEstimate,
  }),
});

export const summaryIndexBuilt = defineEvent({
  type: 'SummaryIndexBuilt',
  description: 'A build is done. The blob `hierarchy` is the index from now on; `superseded` names the earlier one.',
  data: z.strictObject({
    build: buildNumber,
    hierarchy: heldBlob(),
    levels: count,
    summaries: count,
    superseded: releasedBlobs(),
  }),
});

export const summaryIndexBuildCancelled = defineEvent({
  type: 'SummaryIndexBuildCancelled',
  description: 'A build was cancelled. The index did not change.',
  data: z.strictObject({ build: buildNumber }),
});

export const summaryIndexBuildFailed = defineEvent({
  type: 'SummaryIndexBuildFailed',
  description: 'A build failed; `code` says why. The index did not change.',
  data: z.strictObject({ build: buildNumber, code: z.string() }),
});

export const summaryIndexRemoved = defineEvent({
  type: 'SummaryIndexRemoved',
  description: 'The section-summary index was removed, with the summaries of all builds up to `build`.',
  data: z.strictObject({ agentId: id, build: count, blobs: releasedBlobs() }),
});

export const summaryIndexDeleted = defineEvent({
  type: 'SummaryIndexDeleted',
  description: 'The section-summary index was deleted with its Agent.',
  data: z.strictObject({ blobs: releasedBlobs() }),
});

export const summaryIndexEvents = [
  summaryIndexBuildStarted,
  summaryIndexBuilt,
  summaryIndexBuildCancelled,
  summaryIndexBuildFailed,
  summaryIndexRemoved,
  summaryIndexDeleted,
];
export type SummaryIndexEvent = EventsOf<typeof summaryIndexEvents>;
