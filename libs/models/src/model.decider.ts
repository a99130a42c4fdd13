import { canonicalJson, type Decider } from '@app/kernel';
import type { ModelEvent, ModelListEvent, RecordedModel } from './model.events';

/** What the catalogue says of a model; null while it has none of this key. */
export const modelDecider: Decider<RecordedModel | null, RecordedModel | null, ModelEvent> = {
  category: 'model',
  initial: null,
  decide: (stated, recorded) => {
    if (canonicalJson(stated) === canonicalJson(recorded)) return [];
    return [stated === null ? { type: 'ModelWithdrawn', data: {} } : { type: 'ModelOffered', data: stated }];
  },
  evolve: (_, event) => (event.type === 'ModelOffered' ? event.data : null),
};

/** Which models the catalogue has. */
export const modelListDecider: Decider<ModelListEvent['data'] | null, ModelListEvent['data'], ModelListEvent> = {
  category: 'modelList',
  initial: null,
  decide: (stated, recorded) =>
    canonicalJson(stated) === canonicalJson(recorded) ? [] : [{ type: 'ModelsListed', data: stated }],
  evolve: (_, event) => event.data,
};
