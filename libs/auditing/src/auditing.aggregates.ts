import { defineAggregate } from '@app/kernel';
import { contentLookEvents, contentLooks } from './content-looks';
import { operatorActionEvents, operatorActions } from './operator-actions';

export const auditingAggregates = [
  defineAggregate(contentLooks, contentLookEvents),
  defineAggregate(operatorActions, operatorActionEvents, { erasure: { by: {}, again: 'withOwner' }, kinds: {} }),
];
