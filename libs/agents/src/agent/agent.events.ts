import { defineEvent, sensitive, type EventsOf } from '@app/kernel';
import { z } from 'zod';
import { agentConfig } from './agent-config';
import { storedTool } from './tools';

const { name, description, systemPrompt, tools: _, chunking, public: publication, ...open } = agentConfig.shape;
/** Text that people wrote is encrypted; switches, models, addresses and numbers are not. */
const stored = z.strictObject({
  ...open,
  /** Absent in events of versions that had one way of chunking: null. */
  chunking: chunking.optional(),
  tools: z.array(storedTool),
  public: publication.extend({ windowTitle: sensitive(publication.shape.windowTitle) }),
  name: sensitive(name),
  description: sensitive(description),
  systemPrompt: sensitive(systemPrompt),
});

export const agentCreated = defineEvent({
  type: 'AgentCreated',
  description:
    'An Agent was created in a Space. `isPersonal`: only its owner may use it. `automatic`: it is the chat Agent that each user gets.',
  data: stored.extend({
    agentId: z.uuid(),
    spaceId: z.uuid(),
    isPersonal: z.boolean(),
    automatic: z.boolean(),
    ownerId: z.uuid().nullable(),
  }),
});

export const agentChanged = defineEvent({
  type: 'AgentChanged',
  description:
    'The configuration of an Agent changed. Fields that are present replace the old ones; absent ones did not change. `restoredFrom`: the revision whose configuration was restored.',
  data: stored.partial().extend({ restoredFrom: z.number().int().nonnegative().optional() }),
});

export const agentDeleted = defineEvent({
  type: 'AgentDeleted',
  description: 'An Agent was deleted permanently, with its documents, conversations and memories.',
  data: z.strictObject({ spaceId: z.uuid() }),
});

export const agentEvents = [agentCreated, agentChanged, agentDeleted] as const;
export type AgentEvent = EventsOf<typeof agentEvents>;
/** An Agent's configuration in events: its text may be erased. */
export type StoredConfig = z.output<typeof stored>;
