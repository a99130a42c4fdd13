import { categoryOf, defineAggregate } from '@app/kernel';
import { EventsRemoved, REMOVAL_STREAM } from './removal';
import { LogSealed, SEAL_STREAM } from './seal';

/** Seals, and receipts of removals. */
export const sealingAggregates = [
  defineAggregate({ category: categoryOf(SEAL_STREAM) }, [LogSealed]),
  defineAggregate({ category: categoryOf(REMOVAL_STREAM) }, [EventsRemoved]),
];
