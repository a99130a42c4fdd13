import { aggregates, projections } from '@app/hosting';

/** The kinds of object that auditors ask for, by the names that the verbs take. */
export const kinds: readonly string[] = Object.keys(aggregates.kinds);
/** The views, likewise. */
export const views: readonly string[] = projections.map(({ name }) => name);
