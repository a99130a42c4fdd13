import type { Answer, Call, TestPlatform } from './harness';
import { startTestPlatform } from './harness';

export interface Memory {
  readonly id: string;
  readonly agentId: string;
  readonly kind: string;
  readonly status: string;
  readonly text: string;
  readonly origin: string;
  readonly userId: string | null;
  readonly expiresAt: string | null;
  readonly revision: number;
}

interface Person {
  readonly userId: string;
  readonly keyId: string;
  readonly key: string;
}

export const CORE = '/api/v1/core';
export const MINE = `${CORE}/users/me/memories`;

/** An Agent of a team Space with memory of both kinds: its owner, an editor, a viewer and somebody who knows nothing of it. */
export interface MemoryWorld {
  readonly platform: TestPlatform;
  readonly owner: Person;
  readonly editor: Person;
  readonly viewer: Person;
  readonly stranger: Person;
  readonly spaceId: string;
  readonly agentId: string;
  /** Of the memories of the Agent, or of another one. */
  readonly path: (agentId?: string) => string;
  /** Another Agent of the Space. */
  readonly newAgent: (given?: object) => Promise<string>;
  readonly post: (key: string, body: object, agentId?: string) => Promise<Answer<Memory>>;
  readonly list: (key: string, query?: string, agentId?: string) => Promise<readonly Memory[]>;
  readonly choose: (key: string, memoryId: string, choice: string, call?: Call) => Promise<Answer<Memory>>;
  /** A shared memory that is saved. */
  readonly shared: (key: string, text: string) => Promise<string>;
}

export const startMemoryWorld = async (given: Parameters<typeof startTestPlatform>[0] = {}): Promise<MemoryWorld> => {
  const platform = await startTestPlatform(given);
  const [owner, editor, viewer, stranger] = [
    await platform.newCaller(),
    await platform.newCaller(),
    await platform.newCaller(),
    await platform.newCaller(),
  ];
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await platform.call<{ id: string }>(`${CORE}${path}`, { method: 'POST', key: owner.key, body });
    if (answer.status !== 201) throw new Error(`${path}: ${answer.text}`);
    return answer.body.id;
  };
  const spaceId = await made('/spaces', { name: 'Team' });
  for (const [userId, role] of [
    [editor.userId, 'editor'],
    [viewer.userId, 'viewer'],
  ])
    await platform.call(`${CORE}/spaces/${spaceId}/members/${userId}`, {
      method: 'PUT',
      key: owner.key,
      body: { role },
    });
  const newAgent: MemoryWorld['newAgent'] = (more = {}) =>
    made('/agents', { spaceId, name: 'Guide', sharedMemoryEnabled: true, ...more });
  const agentId = await newAgent();
  const path: MemoryWorld['path'] = (of = agentId) => `${CORE}/memory/${of}/memories`;
  const post: MemoryWorld['post'] = (key, body, of) => platform.call<Memory>(path(of), { method: 'POST', key, body });
  const list: MemoryWorld['list'] = async (key, query = '', of = agentId) => {
    const { status, body, text } = await platform.call<{ items: Memory[] }>(`${path(of)}${query}`, { key });
    if (status !== 200) throw new Error(text);
    return body.items;
  };
  const choose: MemoryWorld['choose'] = (key, memoryId, choice, more = {}) =>
    platform.call<Memory>(`${path()}/${memoryId}/${choice}`, { method: 'POST', key, ...more });
  const shared: MemoryWorld['shared'] = async (key, text) => {
    const { body } = await post(key, { text, kind: 'shared' });
    const { status, text: said } = await choose(key, body.id, 'confirm');
    if (status !== 200) throw new Error(said);
    return body.id;
  };
  return { platform, owner, editor, viewer, stranger, spaceId, agentId, path, newAgent, post, list, choose, shared };
};
