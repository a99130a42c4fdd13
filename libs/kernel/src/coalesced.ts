import { offBudget } from './wait-budget';

/** Shares one answer among all callers who ask while it is being computed. The work runs once at a time, outside of any request's wait budget. */
export const coalesced = <T>(ask: () => Promise<T>): (() => Promise<T>) => {
  let asking: Promise<T> | undefined;
  return () => (asking ??= offBudget(ask).finally(() => (asking = undefined)));
};
