import { defineIntegration, type Integrations, integrationEvent } from '@app/kernel';
import { z } from 'zod';
import { type MemoryEvent, memoryKind } from './memory.events';

const subject = 'memories';
const id = z.uuid();

const saved = defineIntegration({
  name: 'memory.saved',
  version: 1,
  subject,
  description: 'A memory was saved.',
  data: z.object({ memoryId: id, agentId: id, kind: memoryKind }),
});
const deleted = defineIntegration({
  name: 'memory.deleted',
  version: 1,
  subject,
  description: 'A memory was deleted permanently.',
  data: z.object({ memoryId: id, agentId: id, kind: memoryKind }),
});
const flagged = defineIntegration({
  name: 'memory.flagged',
  version: 1,
  subject,
  description: 'A text was flagged as unsafe, and not saved as a memory.',
  data: z.object({ memoryId: id, agentId: id, kind: memoryKind, rules: z.array(z.string()), version: z.string() }),
});

/** Proposals are told to nobody: their users alone see them. */
export const memoryIntegrations: Integrations<MemoryEvent> = {
  definitions: [saved, deleted, flagged],
  mapping: {
    MemorySaved: ({ agentId, kind }, memoryId) => integrationEvent(saved, { memoryId, agentId, kind }),
    MemoryConfirmed: ({ agentId, kind }, memoryId) => integrationEvent(saved, { memoryId, agentId, kind }),
    MemorySavedForMe: ({ agentId }, memoryId) => integrationEvent(saved, { memoryId, agentId, kind: 'personal' }),
    MemoryDeleted: ({ agentId, kind }, memoryId) => integrationEvent(deleted, { memoryId, agentId, kind }),
    MemoryFlagged: ({ agentId, kind, rules, version }, memoryId) =>
      integrationEvent(flagged, { memoryId, agentId, kind, rules, version }),
  },
};
