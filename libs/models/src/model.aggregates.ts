import { defineAggregate, ownStream } from '@app/kernel';
import { modelDecider, modelListDecider } from './model.decider';
import { modelOffered, modelsListed, modelWithdrawn } from './model.events';

export const modelAggregates = [
  defineAggregate(modelDecider, [modelOffered, modelWithdrawn], { kinds: { model: ownStream('model') } }),
  defineAggregate(modelListDecider, [modelsListed]),
];
