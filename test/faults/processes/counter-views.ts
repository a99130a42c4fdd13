import type { RowProjection } from '@app/projecting';
import { sharedCounters } from '../../fixtures/shared-projector';

/** How long a projector may be silent: a busy machine must not take it for dead. */
export const SILENCE_MS = 1_500;

/** The counters as successive versions of the product declare them. Rows of the second have another shape: what one wrote into the other's build would show. */
export const declarations = {
  '1.0.0': sharedCounters,
  '1.1.0': {
    ...sharedCounters,
    version: 2,
    apply: (event) =>
      sharedCounters
        .apply(event)
        .map((operation) =>
          operation.op === 'put' ? { ...operation, row: { ...operation.row, declared: 2 } } : operation,
        ),
  },
} as const satisfies Readonly<Record<string, RowProjection>>;

export type ProductVersion = keyof typeof declarations;
