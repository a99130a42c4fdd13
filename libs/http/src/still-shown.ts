import type { Access, Caller } from '@app/access';
import { categoryOf, idOf, isDomainError, reject } from '@app/kernel';
import type { Replay } from './kept-answer';

interface Place {
  readonly agentId?: unknown;
  readonly spaceId?: unknown;
}

/**
 * Rejects `not_found` where the caller may not see any more what an answer that was given tells of: by the Agent or the Space of its path, else of what was written.
 * One's own memories, users, keys and limits are in none.
 */
export const assertStillShown = async (
  access: Pick<Access, 'agent' | 'space' | 'content'>,
  caller: Caller,
  params: unknown,
  { body, stream }: Pick<Replay, 'body' | 'stream'>,
): Promise<void> => {
  if (body === null || stream === undefined) return;
  const [category, id] = [categoryOf(stream), idOf(stream)];
  // Whoever may not use its Agent any more keeps their own.
  if (category === 'memory') return;
  try {
    await assertPlace(access, caller, params as Place, { category, id, shown: JSON.parse(body) as Place });
  } catch (error) {
    if (!isDomainError(error)) throw error;
    reject('not_found', { kind: category, id });
  }
};

const assertPlace = async (
  access: Pick<Access, 'agent' | 'space' | 'content'>,
  caller: Caller,
  path: Place,
  { category, id, shown }: { readonly category: string; readonly id: string; readonly shown: Place },
): Promise<unknown> => {
  const agentId = path.agentId ?? (category === 'agent' ? id : shown.agentId);
  if (typeof agentId === 'string') return access.agent(caller, agentId, 'use');
  const spaceId = path.spaceId ?? (category === 'space' ? id : undefined);
  if (typeof spaceId === 'string') return access.space(caller, spaceId, 'viewer');
  return typeof shown.spaceId === 'string' ? access.content(caller, shown.spaceId, 'viewer') : undefined;
};
