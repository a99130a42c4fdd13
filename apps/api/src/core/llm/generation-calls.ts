import { Access, type AgentAccess, type Caller } from '@app/access';
import type { Requester } from '@app/conversations';
import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/** What any generation may be rejected with. */
export const REJECTIONS = [
  'unsupported_parameter',
  'model_not_available',
  'usage_limit_exceeded',
  'upstream_error',
  'upstream_timeout',
] as const;

/** A generation that may be made: with which Agent, for whom, and until when. */
export interface GenerationCall {
  readonly agent: AgentAccess;
  /** Who is billed. */
  readonly requester: Requester;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
}

/** How each generation begins: its caller may use the Agent, and it ends when they leave. */
@Injectable()
export class GenerationCalls {
  constructor(private readonly access: Access) {}

  /** Rejects as `Access.agent` does. */
  async begin(caller: Caller, agentId: string, { raw }: Pick<FastifyReply, 'raw'>): Promise<GenerationCall> {
    const left = new AbortController();
    raw.once('close', () => left.abort());
    const { userId, keyId } = caller;
    return {
      agent: await this.access.agent(caller, agentId, 'use'),
      requester: { userId, ...(keyId === undefined ? {} : { keyId }) },
      signal: left.signal,
    };
  }
}
