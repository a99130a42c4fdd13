import { AsyncLocalStorage } from 'node:async_hooks';

/** Work, such as a request, that relies on one answer of the log. */
export interface ReadScope {
  /** Only what the log was asked after this moment serves. */
  since: number;
  /** By this process's steady clock, milliseconds. */
  begunAt: number;
}

/** An older scope asks again: work that outlives its request, such as a timer, must not use the request's answer. */
const LONGEST_MS = 1_000;

const scopes = new AsyncLocalStorage<ReadScope>();
let last = 0;
/** An embedded log is never asked, so it costs nothing to work without a scope. */
let isAsked = false;

const nextMoment = (): number => (last += 1);

/** A moment of this process at which a log is asked: later than every moment before. */
export const moment = (): number => {
  isAsked = true;
  return nextMoment();
};

/** A scope that begins now. */
export const newReadScope = (): ReadScope => ({ since: nextMoment(), begunAt: performance.now() });

/**
 * Work that can share one answer of the log: it sees everything that was acknowledged before it began. Outside of any
 * scope, the log is asked each time.
 */
export const inReadScope = <T>(work: () => T, scope = newReadScope()): T =>
  isAsked ? scopes.run(scope, work) : work();

/**
 * Makes the running work ask the log again, to see what others did, for example after a rejection or after taking a
 * claim.
 */
export const renewReadScope = (): void => {
  const scope = scopes.getStore();
  if (scope === undefined) return;
  scope.since = nextMoment();
  scope.begunAt = performance.now();
};

/** Whether an answered question of a certain moment serves the running work. */
export const servesReadScope = (asked: number): boolean => {
  const scope = scopes.getStore();
  if (scope === undefined) return false;
  if (performance.now() - scope.begunAt > LONGEST_MS) renewReadScope();
  return asked > scope.since;
};
