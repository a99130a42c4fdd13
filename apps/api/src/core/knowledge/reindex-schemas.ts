import { presenter } from '@app/http';
import { reindexScope, type ReindexReport } from '@app/knowledge';
import { z } from 'zod';

export const reindexPlace = z.enum(['agent', 'space']);
const scope = reindexPlace.describe("The Agent's own documents, or those of its Space.");

export const newReindex = z.strictObject({
  scope: scope.default('agent'),
  dryRun: z.boolean().default(false).describe('Only estimates it.'),
});
export const newInstanceReindex = newReindex.pick({ dryRun: true });
export const reindexQuery = z.strictObject({
  scope: scope
    .optional()
    .describe("The Agent's own documents, or those of its Space. By default, those with a re-index."),
});
export const reindexAction = z.strictObject({
  scope: scope
    .optional()
    .describe("The Agent's own documents, or those of its Space. By default, those with a re-index."),
});

/** A re-index job as it is shown. */
export const reindexView = presenter<ReindexReport & { readonly currency: string }>(
  'Reindex',
  z.object({
    scope: reindexScope.describe('Whose documents are re-indexed.'),
    state: z
      .enum(['none', 'running', 'paused', 'ready', 'swapped', 'failed'])
      .describe('Its state. `ready`: it can be swapped.'),
    code: z.string().nullable().describe('Why it failed, as a stable code.'),
    estimate: z
      .object({
        calls: z.number().int().describe('Calls to the embedding model.'),
        tokens: z.number().int().describe('Tokens to embed.'),
        cost: z.string().describe('Their cost.'),
      })
      .describe('The estimated maximum, made at the start; without a job, of a new one.'),
    currency: z.string().describe('The currency of the cost.'),
    progress: z
      .object({
        done: z.number().int().describe('Documents with new passages.'),
        total: z.number().int().describe('Documents that need it.'),
      })
      .describe('Its progress.'),
  }),
);
