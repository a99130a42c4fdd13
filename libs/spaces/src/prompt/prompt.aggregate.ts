import { defineAggregate, ownKey } from '@app/kernel';
import { promptDecider } from './prompt.decider';
import { promptEvents } from './prompt.events';

export const promptAggregate = defineAggregate(promptDecider, promptEvents, {
  erasure: {
    by: { PromptDeleted: ownKey },
    again: (decisions, id, meta) => decisions.transact(promptDecider, id, { type: 'Delete' }, meta),
  },
  kinds: {},
});
