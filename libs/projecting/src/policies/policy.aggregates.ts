import { defineAggregate } from '@app/kernel';
import { PolicyAdvanced, PolicyDeadLettered, PolicyDeadLetterSettled } from './policy.events';

/** The journals of policies: the place of each, and its dead letters. */
export const policyAggregates = [
  defineAggregate({ category: 'policy' }, [PolicyAdvanced]),
  defineAggregate({ category: 'policyLetters' }, [PolicyDeadLettered, PolicyDeadLetterSettled]),
];
