import { presenter } from '@app/http';
import { reindexScope, type ReindexReport } from '@app/knowledge';
import { z } from 'zod';

export const reindexPlace = z.enum(['agent', 'space']);
const scope = reindexPlace.describe("The Agent's own documents, or those of its Space.");

export const newReindex = z.strictObject({
  scope: scope.default('agent'),
  dryRun: z.boolean().default(false).describe('Only tells what it would take.'),
});
export const newInstanceReindex = newReindex.pick({ dryRun: true });
export const reindexQuery = z.strictObject({
  scope: scope
    .optional()
    .describe("The Agent's own documents, or those of its Space; by default those of which there is a job."),
});
export const reindexAction = z.strictObject({
  scope: scope
    .optional()
    .describe("The Agent's own documents, or those of its Space; by default those of which there is a job."),
});

/** A re-index job as it is shown. */
export const reindexView = presenter<ReindexReport & { readonly currency: string }>(
  'Reindex',
  z.object({
    scope: reindexScope.describe('Whose documents they are.'),
    state: z
      .enum(['none', 'running', 'paused', 'ready', 'swapped', 'failed'])
      .describe('Where it stands. `ready`: it can be swapped.'),
    code: z.string().nullable().describe('Why it failed; stable.'),
    estimate: z
      .object({
        calls: z.number().int().describe('Calls of the embedding model.'),
        tokens: z.number().int().describe('Tokens of what is embedded.'),
        cost: z.string().describe('What they cost.'),
      })
      .describe('What it takes at most, told in advance; without a job, what one would take.'),
    currency: z.string().describe('The currency of the cost.'),
    progress: z
      .object({
        done: z.number().int().describe('Documents whose passages are made.'),
        total: z.number().int().describe('Documents that need it.'),
      })
      .describe('How far it is.'),
  }),
);
