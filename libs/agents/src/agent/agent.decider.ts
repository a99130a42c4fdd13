import { changedFields, type Decider, givenFields, never, reject } from '@app/kernel';
import type { AgentUpdate, DefaultConfig } from './agent-config';
import type { AgentEvent, StoredConfig } from './agent.events';
import { type StoredTool, type ToolChange, withSecrets } from './tools';

interface Version {
  readonly revision: number;
  readonly config: StoredConfig;
}

interface PresentFields {
  readonly spaceId: string;
  /** Visible to its owner alone. */
  readonly isPersonal: boolean;
  /** The chat Agent that every user gets. */
  readonly automatic: boolean;
  readonly ownerId: string | null;
  readonly version: Version;
  /** The revision that set the system prompt as it is. */
  readonly promptRevision: number;
}

/** State of an Agent. */
export type Agent =
  | { readonly status: 'absent' }
  | { readonly status: 'deleted'; readonly spaceId: string }
  | ({ readonly status: 'present' } & PresentFields);
/** An Agent that is there. */
export type PresentAgent = Extract<Agent, PresentFields>;

/** What can be asked of an Agent. */
export type AgentCommand =
  | {
      readonly type: 'Create';
      readonly agentId: string;
      readonly spaceId: string;
      readonly isPersonal: boolean;
      readonly automatic: boolean;
      readonly ownerId: string | null;
      readonly defaults: DefaultConfig;
      /** Secrets of tools are sealed. */
      readonly config: AgentUpdate;
    }
  | { readonly type: 'Update'; readonly config: AgentUpdate }
  /** `config`: the configuration at that revision, if there was one. `isChatModel` knows the present models: an old version may name a removed one. */
  | {
      readonly type: 'Restore';
      readonly revision: number;
      readonly config: StoredConfig | undefined;
      readonly isChatModel: (key: string) => boolean;
    }
  /** `withSpace`: its Space is deleted. Otherwise the automatic chat Agent cannot be deleted. */
  | { readonly type: 'Delete'; readonly withSpace?: boolean };

export const agentDecider: Decider<Agent, AgentCommand, AgentEvent> = {
  category: 'agent',
  initial: { status: 'absent' },

  decide: (command, agent) => {
    switch (command.type) {
      case 'Create':
        return create(command, agent);
      case 'Update':
        return change(command.config, present(agent));
      case 'Restore':
        return restore(command, present(agent));
      case 'Delete':
        return remove(command, agent);
      default:
        return never(command);
    }
  },

  evolve: (agent, event) => {
    const { revision } = event.context;
    if (event.type === 'AgentCreated') {
      const { agentId: _, spaceId, isPersonal, automatic, ownerId, ...given } = event.data;
      const config = { ...given, chunking: given.chunking ?? null };
      const version = { revision, config };
      return { status: 'present', spaceId, isPersonal, automatic, ownerId, version, promptRevision: revision };
    }
    if (agent.status !== 'present') return agent;
    if (event.type === 'AgentDeleted') return { status: 'deleted', spaceId: agent.spaceId };
    const { restoredFrom: _, ...changes } = event.data;
    const promptRevision = changes.systemPrompt === undefined ? agent.promptRevision : revision;
    const config = { ...agent.version.config, ...givenFields(changes) };
    return { ...agent, version: { revision, config }, promptRevision };
  },

  owner: (event) =>
    event.type === 'AgentCreated'
      ? { spaceId: event.data.spaceId, ...(event.data.ownerId === null ? {} : { userId: event.data.ownerId }) }
      : {},
};

type Of<Type extends AgentCommand['type']> = Extract<AgentCommand, { readonly type: Type }>;

const create = ({ type: _type, defaults, config, ...given }: Of<'Create'>, agent: Agent): readonly AgentEvent[] => {
  if (agent.status === 'deleted') return given.automatic ? [] : reject('not_found');
  if (agent.status === 'present')
    return agent.spaceId === given.spaceId && agent.automatic === given.automatic
      ? []
      : reject('conflict', { reason: 'exists' });
  return [{ type: 'AgentCreated', data: { ...given, ...configured(defaults, config) } }];
};

const change = (config: AgentUpdate, agent: PresentAgent): readonly AgentEvent[] => {
  const data = changedFields(configured(agent.version.config, config), agent.version.config);
  return Object.keys(data).length === 0 ? [] : [{ type: 'AgentChanged', data }];
};

const restore = ({ revision, config, isChatModel }: Of<'Restore'>, agent: PresentAgent): readonly AgentEvent[] => {
  if (config === undefined) return reject('not_found', { kind: 'version', id: revision });
  if (!isChatModel(config.model)) return reject('conflict', { reason: 'unknown_model' });
  // A secret was removed, or replaced, for a reason: a tool has the one that it has today, at the address of today.
  const tools = withSecrets(config.tools.map(withoutSecret), agent.version.config.tools, () => undefined);
  const data = changedFields({ ...config, tools }, agent.version.config);
  return Object.keys(data).length === 0 ? [] : [{ type: 'AgentChanged', data: { ...data, restoredFrom: revision } }];
};

const remove = ({ withSpace }: Of<'Delete'>, agent: Agent): readonly AgentEvent[] => {
  if (agent.status === 'deleted') return [];
  const { automatic, spaceId } = present(agent);
  return automatic && withSpace !== true
    ? reject('conflict', { reason: 'personal_agent' })
    : [{ type: 'AgentDeleted', data: { spaceId } }];
};

/** The configuration after a change, with the rules between its fields applied. */
const configured = (current: StoredConfig, change: AgentUpdate): StoredConfig => {
  const { sampling, public: publication, tools, ...plain } = givenFields(change);
  const config: StoredConfig = {
    ...current,
    ...plain,
    ...(tools === undefined ? {} : { tools: withSecrets(tools, current.tools, rejectMovedSecret) }),
    sampling: {
      temperature: { ...current.sampling.temperature, ...givenFields(sampling?.temperature ?? {}) },
      topP: { ...current.sampling.topP, ...givenFields(sampling?.topP ?? {}) },
      topK: { ...current.sampling.topK, ...givenFields(sampling?.topK ?? {}) },
    },
    public: { ...current.public, ...givenFields(publication ?? {}) },
  };
  if (config.allowedModels !== null && !config.allowedModels.includes(config.model))
    return reject('invalid_body', { path: 'model', reason: 'not_among_allowed_models' });
  if (!config.public.enabled) return config;
  if (change.memoryEnabled === true || change.sharedMemoryEnabled === true)
    return reject('conflict', { path: 'memoryEnabled', reason: 'memory_of_public_agent' });
  return { ...config, memoryEnabled: false, sharedMemoryEnabled: false };
};

const rejectMovedSecret = (index: number): never =>
  reject('invalid_body', { path: `tools[${index}].http.secret`, reason: 'secret_of_another_address' });

const withoutSecret = ({ http, ...tool }: StoredTool): ToolChange => {
  if (http === undefined) return tool;
  const { secret: _, ...api } = http;
  return { ...tool, http: api };
};

const present = (agent: Agent): PresentAgent => (agent.status === 'present' ? agent : reject('not_found'));
