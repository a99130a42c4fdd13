import { offBudget } from './wait-budget';

/** The same question with one answer for all who ask while it is being answered: however many ask, the work is done once at a time, on nobody's budget. */
export const coalesced = <T>(ask: () => Promise<T>): (() => Promise<T>) => {
  let asking: Promise<T> | undefined;
  return () => (asking ??= offBudget(ask).finally(() => (asking = undefined)));
};
