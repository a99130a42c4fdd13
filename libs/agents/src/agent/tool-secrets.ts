import {
  beforeWork,
  decryptField,
  encryptField,
  fieldPlace,
  type Keyring,
  type KeyOwner,
  reject,
  streamOf,
} from '@app/kernel';
import { VAULT } from '@app/vault';
import { Inject, Injectable } from '@nestjs/common';
import type { AgentUpdate } from './agent-config';
import { agentDecider } from './agent.decider';

/** What a sealed secret begins with. */
const SEALED = 'v1.';

/**
 * Seals the secrets of tools under the data key of their Agent before they reach an event. No view, version or
 * auditor ever sees them, and they are erased with the key. Each is bound to its tool.
 */
@Injectable()
export class ToolSecrets {
  constructor(@Inject(VAULT) private readonly keyring: Keyring) {}

  /** A change whose secrets are sealed. `owner`: of an Agent that is about to be created. Rejects `not_found` for one that is gone. */
  async sealed<Change extends AgentUpdate>(agentId: string, change: Change, owner?: KeyOwner): Promise<Change> {
    const { tools } = change;
    if (tools?.some(({ http }) => typeof http?.secret === 'string') !== true) return change;
    const key = await this.keyOf(agentId, owner);
    return {
      ...change,
      tools: tools.map((tool) =>
        typeof tool.http?.secret === 'string'
          ? {
              ...tool,
              http: {
                ...tool.http,
                secret: SEALED + encryptField(key, placeOf(agentId, tool.id), tool.http.secret).$encrypted,
              },
            }
          : tool,
      ),
    };
  }

  /** The secret itself. Rejects `not_found` where the key is destroyed. */
  async opened(agentId: string, toolId: string, sealed: string): Promise<string> {
    const key = await this.keyOf(agentId);
    return decryptField(key, placeOf(agentId, toolId), { $encrypted: sealed.slice(SEALED.length) }) as string;
  }

  private async keyOf(agentId: string, owner?: KeyOwner) {
    const stream = streamOf(agentDecider.category, agentId);
    if (owner !== undefined) return beforeWork(() => this.keyring.ensureKey(stream, owner));
    return (await this.keyring.keys([stream])).get(stream) ?? reject('not_found', { kind: 'agent', id: agentId });
  }
}

const placeOf = (agentId: string, toolId: string): string =>
  fieldPlace(streamOf(agentDecider.category, agentId), `tools/${toolId}/secret`);
