import type { Aggregates } from '@app/kernel';
import type { Projection } from '../projection';

/** A projection, or one that depends on what the aggregates declare. */
export type DeclaredProjection = Projection | ((aggregates: Aggregates) => Projection);

/** The Nest module of a view: provides what answers queries over it, and names its projections for whoever keeps it up with the log, also without Nest. */
export interface ViewModule {
  new (): object;
  readonly projections: readonly DeclaredProjection[];
}

/** Every projection of some views. */
export const projectionsOf = (modules: readonly ViewModule[], aggregates: Aggregates): readonly Projection[] =>
  modules
    .flatMap(({ projections }) => projections)
    .map((projection) => (typeof projection === 'function' ? projection(aggregates) : projection));
