import { exposed, listQuery, presenter } from '@app/http';
import { shownInvocationUsage } from '@app/models';
import { usageGrouping, usageItem, usageOfInvocation, usageSums } from '@app/spending';
import { type InvocationRow, invocationRow } from '@projections/invocations';
import { z } from 'zod';
import type { Columns } from './csv';
import { rangeParameters } from './range-schemas';

const groupBy = usageGrouping.default('day').describe('What the sums are grouped by.');
const filters = {
  userId: z.uuid().optional().describe('Only calls of this user.'),
  apiKeyId: z.uuid().optional().describe('Only calls by this API key.'),
  spaceId: z.uuid().optional().describe('Only calls for this Space.'),
  agentId: z.uuid().optional().describe('Only calls for this Agent.'),
};

export const usageQuery = z.strictObject({ ...rangeParameters, groupBy, ...filters });
export const agentUsageQuery = z.strictObject({ ...rangeParameters, groupBy });
export const invocationsQuery = listQuery({ ...rangeParameters, ...filters });

/** What calls came to from `from` up to, and without, `to`: altogether and by group. */
export const shownReport = z
  .object({
    currency: z.string().describe('The currency of the costs.'),
    from: z.string().describe('The start of the period, ISO 8601 in UTC.'),
    to: z.string().describe('The end of the period, ISO 8601 in UTC.'),
    totals: usageSums.describe('All calls of the period.'),
    items: z.array(usageItem).describe('The same by group.'),
  })
  .meta({ id: 'UsageReport' });
export type ShownReport = z.output<typeof shownReport>;

const text = z.string().nullable();
/** How far a limit is used up; null where there is no limit, `start` and `resetsAt` also for one over all time. */
const limitWindow = z.object({
  start: text.describe('When the window started, ISO 8601 in UTC.'),
  resetsAt: text.describe('When it ends, ISO 8601 in UTC.'),
  limit: text.describe('The amount of the limit, a decimal.'),
  used: text.describe('How much of it is used, a decimal.'),
  overage: text.describe('How much was used beyond it, a decimal.'),
});
export const NO_WINDOW: z.output<typeof limitWindow> = {
  start: null,
  resetsAt: null,
  limit: null,
  used: null,
  overage: null,
};

export const agentReport = shownReport
  .extend({ window: limitWindow.describe("How much of the caller's own tightest limit is used.") })
  .meta({ id: 'AgentUsageReport' });
export type AgentReport = z.output<typeof agentReport>;

/** A model call. `agentId` and `spaceId` are there where it was made for an Agent. */
export const invocationView = presenter<InvocationRow>(
  'Invocation',
  exposed(invocationRow, {
    id: true,
    at: 'When it ended, ISO 8601 in UTC.',
    kind: 'The kind of call.',
    userId: 'The user who requested it.',
    apiKeyId: 'The API key used, or null.',
    model: 'The model.',
    priceVersion: 'The price version used to bill it.',
    usageSource: 'Where the token count came from.',
    latencyMs: 'How long it took, in milliseconds.',
    outcome: 'How it ended.',
  }).extend({
    agentId: z.string().optional().describe('The Agent that made it.'),
    spaceId: z.string().optional().describe('The Space of that Agent.'),
    usage: shownInvocationUsage.describe('Its tokens and cost.'),
  }),
  (row) => ({
    ...row,
    agentId: row.agentId ?? undefined,
    spaceId: row.spaceId ?? undefined,
    usage: usageOfInvocation(row),
  }),
);

export const reportColumns = (
  grouping: z.output<typeof usageGrouping>,
  currency: string,
): Columns<ShownReport['items'][number]> => ({
  [grouping]: ({ key }) => key,
  calls: ({ calls }) => calls,
  inputTokens: ({ inputTokens }) => inputTokens,
  cachedInputTokens: ({ cachedInputTokens }) => cachedInputTokens,
  outputTokens: ({ outputTokens }) => outputTokens,
  cost: ({ cost }) => cost,
  includedCost: ({ includedCost }) => includedCost,
  currency: () => currency,
});

export const invocationColumns: Columns<InvocationRow> = {
  id: (row) => row.id,
  at: (row) => row.at,
  kind: (row) => row.kind,
  userId: (row) => row.userId,
  apiKeyId: (row) => row.apiKeyId,
  agentId: (row) => row.agentId,
  spaceId: (row) => row.spaceId,
  model: (row) => row.model,
  priceVersion: (row) => row.priceVersion,
  inputTokens: (row) => row.inputTokens,
  cacheReadTokens: (row) => row.cacheReadTokens,
  cacheWriteTokens: (row) => row.cacheWriteTokens,
  outputTokens: (row) => row.outputTokens,
  reasoningTokens: (row) => row.reasoningTokens,
  cost: (row) => usageOfInvocation(row).cost,
  currency: (row) => row.currency,
  isIncludedUsage: (row) => row.isIncludedUsage,
  usageSource: (row) => row.usageSource,
  latencyMs: (row) => row.latencyMs,
  outcome: (row) => row.outcome,
  images: (row) => row.units?.images ?? null,
  characters: (row) => row.units?.characters ?? null,
  seconds: (row) => row.units?.seconds ?? null,
};
