import { projections } from '@app/hosting';
import { objectKinds } from '../../api/src/audit/object-kinds';

/** The kinds of object that auditors ask for, by the names that the verbs take. */
export const kinds: readonly string[] = Object.keys(objectKinds);
/** The views, likewise. */
export const views: readonly string[] = projections.map(({ name }) => name);
