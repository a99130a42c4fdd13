export type { LimitState } from './account/open-account';
export { CallRecord } from './call-record';
export { recordedInvocation, type RecordedInvocation, invocationsRecorded } from './invocations/invocation.events';
export { Ledger } from './ledger';
export { CreateLimit, CreateLimitHandler } from './limits/commands/create-limit';
export { DeleteLimit } from './limits/commands/delete-limit';
export { UpdateLimit, UpdateLimitHandler } from './limits/commands/update-limit';
export { limitScope, type LimitScope, limitTerms, type LimitTerms, type LimitEvent } from './limits/limit.events';
export { type AppliedLimit, Limits } from './limits/limits';
export { METERING, type CallToMeter, type Settlement, type MeteredCall, type Metering } from './metering';
export { RepeatedCall } from './repeated-call';
export {
  restatedPrices,
  restatementClosed,
  restatementEvents,
  type RestatementEvent,
} from './restatement/restatement.events';
export { type CallsBehind, restatementId, Restatements } from './restatement/restatements';
export { usageOfInvocation } from './usage/tokens-of';
export {
  usageGrouping,
  type UsageGrouping,
  usageItem,
  type UsagePart,
  spanOf,
  UsageReport,
} from './usage/usage-report';
export { usageSums, noUsage, addUsage, usageOfOne, shownSums } from './usage/usage-sums';
export { type ProposedLimit, whatIfAnswer, type WhatIfAnswer, WhatIf, earliestWindow } from './what-if/what-if';
export { windowAt } from './windows';
export { LIMIT_WINDOWS, overageOf, LimitWindows } from './limit-windows';
export {
  RECORDED_SPENDING,
  type RecordedSpending,
  CALLS_BEHIND,
  OPEN_RESTATEMENTS,
  type OpenRestatements,
} from './lookups';
export { SpendingModule } from './spending.module';
