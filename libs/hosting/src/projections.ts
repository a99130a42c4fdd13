import { type Projection, projectionsOf } from '@app/projecting';
import { aggregates } from './aggregates';
import { viewModules } from './views.module';

/** Every projection of the product, for what runs without Nest: the thread that rebuilds, and the command line. */
export const projections: readonly Projection[] = projectionsOf(viewModules, aggregates);
