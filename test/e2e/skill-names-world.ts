import { skillNamesDecider } from '@app/skills';
import { alice, create, platform } from './spaces-world';

/** Skills by their names, in Spaces and Agents of Alice. */

export const SKILLS = '/api/v1/core/skills';
export type Body = Readonly<Record<string, unknown>> & { readonly id: string };
/** Where a Skill is. */
export type Place =
  { readonly scope: 'space'; readonly spaceId: string } | { readonly scope: 'agent'; readonly agentId: string };

export const add = (place: Place, name: string) =>
  platform.call<Body>(SKILLS, {
    key: alice.key,
    method: 'POST',
    body: { ...place, name, description: 'A Skill.', instructions: 'Do it.' },
  });
export const rename = (id: string, name: string) =>
  platform.call<Body>(`${SKILLS}/${id}`, { key: alice.key, method: 'PUT', body: { name } });
export const publish = (id: string) =>
  platform.call<Body>(`${SKILLS}/${id}/publish`, { key: alice.key, method: 'POST' });
export const list = async (query: string): Promise<readonly Body[]> =>
  (await platform.call<{ items: Body[] }>(`${SKILLS}?${query}&limit=100`, { key: alice.key })).body.items;
export const space = async (name: string) => (await create(name)).body.id;
export const agentIn = async (spaceId: string): Promise<Place & { readonly scope: 'agent' }> => {
  const { body } = await platform.call<Body>('/api/v1/core/agents', {
    key: alice.key,
    method: 'POST',
    body: { spaceId, name: 'Guide' },
  });
  return { scope: 'agent', agentId: body.id };
};
/** Ids of the Skills that hold a name of a Space, or of one of its Agents. */
export const held = async (spaceId: string): Promise<readonly string[]> =>
  (await platform.platform.host.stores.decisions.load(skillNamesDecider, spaceId)).state
    .valueSeq()
    .map(({ skillId }) => skillId)
    .toArray()
    .toSorted();
