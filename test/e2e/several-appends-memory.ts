import { bucketDecider, bucketIdOf, countOf } from '@app/memory';
import { CORE, events, items, made, name, platform, type Prepared, type Sent, stores } from './several-appends-world';

/** Nobody has it as a memory yet. */
const text = (): string => `Likes ${name('tea')}`;

interface Listed {
  readonly id: string;
  readonly status: string;
}

/** An Agent with a memory or a proposal that `change` is about. The places of its buckets are those of what is saved. */
const changing =
  (body: object, change: (path: string, id: string) => Sent, type: string) => async (): Promise<Prepared> => {
    const { key, userId } = await platform.newCaller();
    const spaceId = await made('/spaces', { name: name('space') }, key);
    const own = await made('/agents', { spaceId, name: 'Guide', sharedMemoryEnabled: true }, key);
    const id = await made(`/memory/${own}/memories`, { text: text(), ...body }, key);
    const path = `${CORE}/memory/${own}/memories`;
    const before = await events(type, own);
    const isConsistent = async (): Promise<boolean> => {
      const listed = await items<Listed>(path, key);
      const count = (wanted: string): number => listed.filter(({ status }) => status === wanted).length;
      return (await saved(own, userId)) === count('saved') && (await waiting(own, userId)) === count('proposed');
    };
    return { sent: { ...change(path, id), key }, times: async () => (await events(type, own)) - before, isConsistent };
  };

/** Places that are taken in both buckets. */
const saved = async (agentId: string, userId: string): Promise<number> => {
  const owners = [
    { agentId, userId, kind: 'personal' },
    { agentId, userId: null, kind: 'shared' },
  ] as const;
  const counts = await Promise.all(
    owners.map(async (owner) =>
      countOf((await stores().decisions.load(bucketDecider, bucketIdOf(owner))).state.places),
    ),
  );
  return counts.reduce((sum, count) => sum + count, 0);
};

/** Places of proposals that wait. */
const waiting = async (agentId: string, userId: string): Promise<number> => {
  const id = bucketIdOf({ agentId, userId, kind: 'shared' }, 'proposed');
  return countOf((await stores().decisions.load(bucketDecider, id)).state.places);
};

const PATH = `${CORE}/memory/:agentId/memories`;
const personal = { kind: 'personal' };
const shared = { kind: 'shared' };

export const MEMORY_REQUESTS: readonly (readonly [string, string, number, () => Promise<Prepared>])[] = [
  [
    `POST ${PATH}`,
    'POST /memories',
    2,
    changing(personal, (path) => ({ path, body: { text: text() } }), 'MemorySaved'),
  ],
  [
    `POST ${PATH}`,
    'POST /memories that replaces another',
    4,
    changing(personal, (path, replaces) => ({ path, body: { text: text(), replaces } }), 'MemorySaved'),
  ],
  [
    `POST ${PATH}`,
    'POST /memories of a shared one',
    2,
    changing(personal, (path) => ({ path, body: { text: text(), kind: 'shared' } }), 'MemoryProposed'),
  ],
  [
    `POST ${PATH}/:memoryId/discard`,
    'POST /memories/{id}/discard',
    2,
    changing(shared, (path, id) => ({ path: `${path}/${id}/discard` }), 'MemoryDiscarded'),
  ],
  [
    `POST ${PATH}/:memoryId/confirm`,
    'POST /memories/{id}/confirm',
    3,
    changing(shared, (path, id) => ({ path: `${path}/${id}/confirm` }), 'MemoryConfirmed'),
  ],
  [
    `POST ${PATH}/:memoryId/save-for-me`,
    'POST /memories/{id}/save-for-me',
    3,
    changing(shared, (path, id) => ({ path: `${path}/${id}/save-for-me` }), 'MemorySavedForMe'),
  ],
  [
    `PUT ${PATH}/:memoryId`,
    'PUT /memories/{id}',
    3,
    async () => {
      const prepared = await changing(
        personal,
        (path, id) => ({ method: 'PUT', path: `${path}/${id}`, body: { text: text() } }),
        'MemoryEdited',
      )();
      const id = prepared.sent.path.split('/').at(-1) as string;
      return { ...prepared, times: () => events('MemoryEdited', id) };
    },
  ],
  [
    `DELETE ${PATH}/:memoryId`,
    'DELETE /memories/{id}',
    2,
    changing(personal, (path, id) => ({ method: 'DELETE', path: `${path}/${id}` }), 'MemoryDeleted'),
  ],
  [
    `DELETE ${PATH}`,
    'DELETE /memories',
    2,
    changing(personal, (path) => ({ method: 'DELETE', path }), 'MemoryDeleted'),
  ],
  [
    `DELETE ${CORE}/users/me/memories`,
    'DELETE /users/me/memories',
    2,
    changing(personal, () => ({ method: 'DELETE', path: `${CORE}/users/me/memories` }), 'MemoryDeleted'),
  ],
];
