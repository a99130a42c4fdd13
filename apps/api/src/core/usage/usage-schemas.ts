import { invocationUsage } from '@app/models';
import { usageGrouping, usageItem, usageOfInvocation, usageSums } from '@app/spending';
import { type InvocationRow, invocationRow } from '@projections/invocations';
import { z } from 'zod';
import { listQuery, presenter } from '../../http';
import type { Columns } from './csv';
import { rangeParameters } from './usage-range';

const groupBy = usageGrouping.default('day');
const filters = {
  userId: z.uuid().optional(),
  apiKeyId: z.uuid().optional(),
  spaceId: z.uuid().optional(),
  agentId: z.uuid().optional(),
};

export const usageQuery = z.strictObject({ ...rangeParameters, groupBy, ...filters });
export const agentUsageQuery = z.strictObject({ ...rangeParameters, groupBy });
export const invocationsQuery = listQuery({ ...rangeParameters, ...filters });

/** What calls came to from `from` up to, and without, `to`: altogether and by group. */
export const shownReport = z.object({
  currency: z.string(),
  from: z.string(),
  to: z.string(),
  totals: usageSums,
  items: z.array(usageItem),
});
export type ShownReport = z.output<typeof shownReport>;

const text = z.string().nullable();
/** How far a limit is used up; null where there is no limit, `start` and `resetsAt` also for one over all time. */
const limitWindow = z.object({ start: text, resetsAt: text, limit: text, used: text, overage: text });
export const NO_WINDOW: z.output<typeof limitWindow> = {
  start: null,
  resetsAt: null,
  limit: null,
  used: null,
  overage: null,
};

export const agentReport = shownReport.extend({ window: limitWindow });
export type AgentReport = z.output<typeof agentReport>;

const { id, at, kind, userId, apiKeyId, model, priceVersion, usageSource, latencyMs, outcome } = invocationRow.shape;

/** A model call. `agentId` and `spaceId` are there where it was made for an Agent. */
export const invocationView = presenter<InvocationRow>(
  z.object({
    id,
    at,
    kind,
    userId,
    apiKeyId,
    agentId: z.string().optional(),
    spaceId: z.string().optional(),
    model,
    priceVersion,
    usage: invocationUsage,
    usageSource,
    latencyMs,
    outcome,
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
};
