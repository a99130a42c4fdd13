import type { Projection } from '@app/projecting';

/** Every view of the product. */
export const projections: readonly Projection[] = [];
