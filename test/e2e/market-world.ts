import { platform } from './spaces-world';

/** The marketplace, and places to install from it. */

export const CORE = '/api/v1/core';
export const MARKET = '/marketplace/skills';
type Method = 'POST' | 'PUT' | 'DELETE';
export type Body = Readonly<Record<string, unknown>> & { readonly id: string };
/** Who calls; the admin where nobody is named. */
type Who = { readonly key?: string };

export const call = (path: string, method?: Method, body?: object, { key }: Who = {}) =>
  platform.call<Body>(`${CORE}${path}`, {
    ...(method !== undefined && { method }),
    ...(body !== undefined && { body }),
    ...(key !== undefined && { key }),
  });
export const made = async (path: string, body: object, who: Who = {}): Promise<string> => {
  const answer = await call(path, 'POST', body, who);
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.body.id;
};
export const items = async (path: string, who: Who = {}) =>
  (await call(path, undefined, undefined, who)).body['items'] as readonly Body[];

let spaces = 0;
export const newSpace = (who: Who = {}) => made('/spaces', { name: `Market ${(spaces += 1)}` }, who);
export const newAgent = (spaceId: string, who: Who = {}) => made('/agents', { spaceId, name: 'Guide' }, who);
export const published = (spaceId: string, name: string, instructions = 'Do it.', who: Who = {}) =>
  made('/skills', { scope: 'space', spaceId, name, description: `Use for ${name}.`, instructions, publish: true }, who);
export const list = (skillId: string, rest: object = {}, who: Who = {}) =>
  call(MARKET, 'POST', { skillId, ...rest }, who);
export const listed = async (name: string, instructions?: string) => {
  const skillId = await published(await newSpace(), name, instructions);
  return { skillId, entryId: await made(MARKET, { skillId, acceptFindings: true }) };
};
export const inSpace = (spaceId: string, rest: object = {}) => ({ scope: 'space', spaceId, ...rest });
export const forAgent = (agentId: string) => ({ scope: 'agent', agentId });
export const install = (entryId: string, at: object, who: Who = {}) =>
  call(`${MARKET}/${entryId}/installations`, 'POST', at, who);
export const changed = async (skillId: string, instructions: string) => {
  expect((await call(`/skills/${skillId}`, 'PUT', { instructions })).status).toBe(200);
  expect((await call(`/skills/${skillId}/publish`, 'POST')).status).toBe(200);
};
export const loadable = async (agentId: string, who: Who = {}) => {
  const { body } = await call(`/skills?agentId=${agentId}`, undefined, undefined, who);
  const rows = (body['items'] as readonly Body[]).map(({ id, availability, activeVersionId }) => ({
    id,
    availability,
    activeVersionId,
  }));
  return { rows, skillSetHash: body['skillSetHash'] };
};
