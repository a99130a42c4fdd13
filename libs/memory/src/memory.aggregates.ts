import { defineAggregate, namedIn, ownKey, ownStream } from '@app/kernel';
import { bucketDecider } from './bucket/bucket.decider';
import { bucketEvents } from './bucket/bucket.events';
import { memoryDecider } from './memory/memory.decider';
import { memoryEvents } from './memory/memory.events';
import { memoryIntegrations } from './memory/memory.integrations';

/** Each memory has a data key of its own. A shared one belongs to its Agent, not to its author. */
const memoryAggregate = defineAggregate(memoryDecider, memoryEvents, {
  erasure: {
    by: {
      MemoryDeleted: ownKey,
      MemoryDiscarded: ownKey,
      MemoryFlagged: (event) => (event.data.during === 'choice' ? ownKey(event) : undefined),
    },
    again: (decisions, id, meta) => decisions.transact(memoryDecider, id, { type: 'Delete' }, meta),
  },
  integrations: memoryIntegrations,
  kinds: { memory: ownStream('memory', namedIn('agent', 'agentId')) },
});

/** Ids, numbers and keyed hashes: nothing to erase. */
const bucketAggregate = defineAggregate(bucketDecider, bucketEvents);

export const memoryAggregates = [memoryAggregate, bucketAggregate];
