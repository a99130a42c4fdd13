import type { Aggregate } from './aggregate';

/** A Nest module that names the kinds of aggregates whose events it writes, also for whoever reads the log without Nest. */
export interface AggregatesModule {
  new (...given: never[]): object;
  readonly aggregates: readonly Aggregate[];
}

/** Every kind of aggregate of some modules. */
export const aggregatesOf = (modules: readonly AggregatesModule[]): readonly Aggregate[] =>
  modules.flatMap(({ aggregates }) => aggregates);
