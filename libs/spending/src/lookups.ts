import type { SettlementsParts } from './settlements';

/** Injection token of `RecordedSpending`. */
export const RECORDED_SPENDING = Symbol('RecordedSpending');
/** What usage records say, complete up to now. Throws `Unavailable` while they are not. */
export type RecordedSpending = Pick<SettlementsParts, 'spentSince' | 'recorded'>;

/** Injection token of `CallsBehind`. */
export const CALLS_BEHIND = Symbol('CallsBehind');

/** Injection token of `OpenRestatements`. */
export const OPEN_RESTATEMENTS = Symbol('OpenRestatements');
/** Ids of restatements that were begun before a time and are not complete; usage records are then. Throws `Unavailable` while they are not. */
export type OpenRestatements = (before: Date) => Promise<readonly string[]>;
