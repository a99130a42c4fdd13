import { Aggregates, aggregatesOf } from '@app/kernel';
import { aggregateModules } from './contexts';

/** Every kind of aggregate of the product. To a log that others write too, all other streams are theirs: a version that adds one is the first to see its events. */
export const aggregates = new Aggregates(aggregatesOf(aggregateModules));

export const eventCatalogue = aggregates.catalogue;
