import type { RowProjection } from '@app/projecting';
import { auditTrail } from '@projections/audit-trail/threads';

/** The projections that read the context of events alone, of a program that knows these types of events. Loaded by themselves: the thread that catches them up needs no others. */
export const contextProjections = (types: readonly string[]): readonly RowProjection[] => [auditTrail(types)];
