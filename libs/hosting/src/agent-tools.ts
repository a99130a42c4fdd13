import type { AgentAccess, Authenticator } from '@app/access';
import type { StoredTool, ToolSecrets } from '@app/agents';
import {
  type AgentTools,
  type AnsweringAgent,
  knowledgeTool,
  type Requester,
  type Retriever,
  type Tool,
  type ToolOutput,
} from '@app/conversations';
import { inReadScope, isErased, REMEMBERED, revealed, SharedLruCache, sizeOf } from '@app/kernel';
import { type HttpCaller, operationsOf, type ToolOperation, toolNameOf } from '@app/tools';

interface ReadDocument {
  readonly document: string;
  readonly operations: readonly ToolOperation[];
}

type SearchingAgent = Pick<AnsweringAgent, 'agentId' | 'spaceId' | 'knowledgeEnabled'>;

const GONE: ToolOutput = {
  output: JSON.stringify({ error: 'This tool was changed or removed meanwhile.' }),
  isError: true,
};

type ToolsConfig = Pick<AgentAccess['agent']['version']['config'], 'tools' | 'knowledgeEnabled'>;

export interface ToolsParts {
  /** `Access`, of which the tools of an Agent are read. */
  readonly access: {
    agentOf(
      userId: string,
      agentId: string,
    ): Promise<{ readonly agent: { readonly version: { readonly config: ToolsConfig } } } | undefined>;
  };
  readonly authenticator: Pick<Authenticator, 'holder'>;
  readonly secrets: Pick<ToolSecrets, 'opened'>;
  readonly retriever: Retriever;
  readonly http: Pick<HttpCaller, 'call'>;
  readonly logger: { warn(facts: object, message: string): void };
}

/**
 * Provides the tools of Agents: the search in Knowledge, and the operations of their HTTP tools. Looks up permission,
 * tool and secret again at each call, since a conversation may wait for days before a call is approved.
 */
export class ToolsOfAgents implements AgentTools {
  private readonly read = new SharedLruCache<string, ReadDocument>(REMEMBERED, sizeOf);

  constructor(private readonly parts: ToolsParts) {}

  readonly of = async (agent: SearchingAgent, requester: Requester): Promise<readonly Tool[]> => {
    const tools = (await this.configFor(agent.agentId, requester))?.tools;
    if (tools === undefined) return [];
    const knowledge = tools.find(({ kind }) => kind === 'knowledge');
    const searches = agent.knowledgeEnabled && knowledge?.enabled !== false;
    return [
      ...(searches ? [this.search(agent, requester, knowledge?.approval ?? 'never')] : []),
      ...tools.flatMap((tool) => this.operations(agent.agentId, tool, requester)),
    ];
  };

  /** Not where the key was revoked, has not the Agent or `llm` any more, or its user lost the Space. */
  readonly mayUse: AgentTools['mayUse'] = ({ agentId }, { userId, keyId }) =>
    inReadScope(async () => {
      if (keyId !== undefined) {
        const caller = await this.parts.authenticator.holder(keyId);
        if (caller?.permissions.has('llm') !== true) return false;
        if (!caller.allAgents && !caller.agentIds.has(agentId)) return false;
      }
      return (await this.parts.access.agentOf(userId, agentId)) !== undefined;
    });

  private search(agent: SearchingAgent, requester: Requester, approval: Tool['approval']): Tool {
    const tool = knowledgeTool(this.parts.retriever, agent, requester, approval);
    const run: Tool['run'] = async (input, context) => {
      const now = await this.configFor(agent.agentId, requester);
      const entry = now?.tools.find(({ kind }) => kind === 'knowledge');
      const isOn = now?.knowledgeEnabled === true && entry?.enabled !== false;
      return isOn && isAllowed(approval, entry) ? tool.run(input, context) : GONE;
    };
    return { ...tool, run };
  }

  /** Undefined for an Agent that the requester may not use. */
  private async configFor(agentId: string, { userId }: Requester): Promise<ToolsConfig | undefined> {
    return (await this.parts.access.agentOf(userId, agentId))?.agent.version.config;
  }

  private operations(agentId: string, tool: StoredTool, requester: Requester): readonly Tool[] {
    const { id, name, http, enabled, approval } = tool;
    if (!enabled || http === undefined || isErased(http.document)) return [];
    const title = revealed(name, id);
    return this.operationsIn(`${agentId}/${id}`, http.document).map((operation) => ({
      name: toolNameOf(id, operation.name),
      description: `${title}: ${operation.description || `${operation.method} ${operation.path}`}`,
      inputSchema: operation.inputSchema,
      approval,
      run: (input, { signal }) => this.run(agentId, tool, operation, requester, input, signal),
    }));
  }

  private async run(
    agentId: string,
    tool: StoredTool,
    operation: ToolOperation,
    requester: Requester,
    input: unknown,
    signal: AbortSignal,
  ): Promise<ToolOutput> {
    const present = (await this.configFor(agentId, requester))?.tools.find(({ id }) => id === tool.id);
    const { document, baseUrl, secret } = present?.http ?? {};
    if (present?.enabled !== true || !isAllowed(tool.approval, present)) return GONE;
    if (baseUrl === undefined || isErased(baseUrl) || document !== tool.http?.document) return GONE;
    const opened =
      secret === undefined || isErased(secret) ? undefined : await this.parts.secrets.opened(agentId, tool.id, secret);
    const { reason, ...outcome } = await this.parts.http.call({
      agentId,
      operation,
      baseUrl,
      secret: opened,
      input,
      signal,
    });
    if (reason !== undefined) this.parts.logger.warn({ agentId, toolId: tool.id, code: reason }, 'Tool call failed.');
    return outcome;
  }

  /** A document is read once as long as it is remembered. */
  private operationsIn(key: string, document: string): readonly ToolOperation[] {
    const known = this.read.get(key);
    if (known?.document === document) return known.operations;
    const operations = operationsOf(JSON.parse(document));
    this.read.set(key, { document, operations });
    return operations;
  }
}

/** A call that nobody had to approve does not run where that changed meanwhile. */
const isAllowed = (asked: Tool['approval'], now: { readonly approval: Tool['approval'] } | undefined): boolean =>
  asked === 'always' || now?.approval !== 'always';
