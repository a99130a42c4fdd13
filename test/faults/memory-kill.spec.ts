import { until } from '../fixtures/until';
import {
  type Answer,
  assertErased,
  assertPlaces,
  get,
  killed,
  killedTogether,
  made,
  memoriesOf,
  name,
  send,
  type Sent,
  withDyingProduct,
} from './memory/killed-memories';

/** kill -9 before each append of what saves, chooses, changes and deletes memories, which nobody repeats. Places equal saved memories then. */

withDyingProduct();

interface World {
  readonly agentId: string;
  readonly userId: string;
  /** Of its memories. */
  readonly path: string;
}
interface Prepared {
  readonly sent: Sent;
  /** What is there afterwards, once it is settled. `n`: the append that did not come. */
  readonly check: (n: number) => Promise<void>;
}
interface Case {
  readonly title: string;
  readonly appends: number;
  /** From this append on a policy may be faster. */
  readonly racedFrom: number;
  readonly prepare: (world: World) => Promise<Prepared>;
}

const world = async (): Promise<World> => {
  const spaceId = await made('/core/spaces', { name: name() });
  const agentId = await made('/core/agents', { spaceId, name: 'Guide', sharedMemoryEnabled: true });
  const userId = (await get<{ id: string }>('/core/users/me')).body.id;
  return { agentId, userId, path: `/core/memory/${agentId}/memories` };
};
const post = ({ path }: World, body: object): Sent => ({ method: 'POST', path, body });
const proposed = ({ path }: World, more: object = {}) => made(path, { text: name(), kind: 'shared', ...more });
const shared = async (given: World): Promise<string> => {
  const id = await proposed(given);
  await send({ method: 'POST', path: `${given.path}/${id}/confirm` });
  return id;
};
const statuses = async ({ agentId }: World) =>
  Object.fromEntries((await memoriesOf(agentId)).map(({ id, kind, status }) => [id, `${status} ${kind}`]));
const settled = (given: World, expected: Readonly<Record<string, string>>) =>
  until(
    async () =>
      JSON.stringify(Object.entries(await statuses(given)).toSorted()) ===
      JSON.stringify(Object.entries(expected).toSorted()),
    JSON.stringify(expected),
    { patience: 60_000, every: 100 },
  );
const choice = (name: string, saved: string): Case => ({
  title: name,
  appends: 3,
  racedFrom: 3,
  prepare: async (given) => {
    const id = await proposed(given);
    // What took its place is carried out: the text is there.
    const check = (n: number) => settled(given, { [id]: n === 1 ? 'proposed shared' : saved });
    return { sent: { method: 'POST', path: `${given.path}/${id}/${name}` }, check };
  },
});

const cases: readonly Case[] = [
  {
    title: 'POST',
    appends: 2,
    racedFrom: 3,
    prepare: async (given) => {
      const text = name();
      const check = async () => {
        await settled(given, {});
        await until(async () => (await send(post(given, { text }))).status === 201, 'its text', { every: 100 });
      };
      return { sent: post(given, { text }), check };
    },
  },
  {
    title: 'POST of a proposal',
    appends: 2,
    racedFrom: 3,
    prepare: async (given) => {
      const body = { text: name(), kind: 'shared' };
      const check = async () => {
        await settled(given, {});
        await until(async () => (await send(post(given, body))).status === 201, 'its text', { every: 100 });
      };
      return { sent: post(given, body), check };
    },
  },
  {
    title: 'POST that replaces another',
    appends: 4,
    racedFrom: 3,
    prepare: async (given) => {
      const replaces = await made(given.path, { text: name() });
      const check = async (n: number) => {
        if (n <= 2) return settled(given, { [replaces]: 'saved personal' });
        await until(async () => (await memoriesOf(given.agentId)).every(({ id }) => id !== replaces), 'its end');
        await assertErased([replaces]);
      };
      return { sent: post(given, { text: name(), replaces }), check };
    },
  },
  choice('confirm', 'saved shared'),
  choice('save-for-me', 'saved personal'),
  {
    title: 'confirm of one that replaces another',
    appends: 5,
    racedFrom: 3,
    prepare: async (given) => {
      const replaces = await shared(given);
      const id = await proposed(given, { replaces });
      const check = async (n: number) => {
        if (n === 1) return settled(given, { [replaces]: 'saved shared', [id]: 'proposed shared' });
        await settled(given, { [id]: 'saved shared' });
        await assertErased([replaces]);
      };
      return { sent: { method: 'POST', path: `${given.path}/${id}/confirm` }, check };
    },
  },
  {
    title: 'discard',
    appends: 2,
    racedFrom: 2,
    prepare: async (given) => {
      const id = await proposed(given);
      const check = (n: number) => settled(given, n === 1 ? { [id]: 'proposed shared' } : {});
      return { sent: { method: 'POST', path: `${given.path}/${id}/discard` }, check };
    },
  },
  {
    title: 'edit',
    appends: 3,
    racedFrom: 2,
    prepare: async (given) => {
      const [before, after] = [name(), name()];
      const id = await made(given.path, { text: before });
      // Its place has both texts until it is noted which of them the memory has.
      const check = async (n: number) => {
        const [has, free] = n < 3 ? [before, after] : [after, before];
        await until(
          async () => (await memoriesOf(given.agentId)).map(({ text }) => text).join('\n') === has,
          'the view with the text that the memory has',
        );
        const add = async (text: string): Promise<Answer> => send(post(given, { text }));
        const again = await add(has);
        expect([again.status, again.body['id']]).toEqual([200, id]);
        await until(async () => (await add(free)).status === 201, 'the other text', { every: 100 });
        expect([(await add(has)).status, (await add(has)).body['id']]).toEqual([200, id]);
      };
      return { sent: { method: 'PUT', path: `${given.path}/${id}`, body: { text: after } }, check };
    },
  },
  {
    title: 'delete',
    appends: 2,
    racedFrom: 2,
    prepare: async (given) => {
      const id = await made(given.path, { text: name() });
      const check = async (n: number) => {
        await settled(given, n === 1 ? { [id]: 'saved personal' } : {});
        if (n === 2) await assertErased([id]);
      };
      return { sent: { method: 'DELETE', path: `${given.path}/${id}` }, check };
    },
  },
  {
    title: 'clear',
    appends: 5,
    racedFrom: 4,
    prepare: async (given) => {
      const ids = [
        await made(given.path, { text: name() }),
        await made(given.path, { text: name() }),
        await proposed(given),
      ];
      const kept = await shared(given);
      const sent = { method: 'DELETE', path: given.path } as const;
      const check = async () => {
        const left = Object.keys(await statuses(given));
        expect(left).toContain(kept);
        await assertErased(ids.filter((id) => !left.includes(id)));
        await assertPlaces(given.agentId, given.userId);
        expect((await send(sent)).status).toBe(204);
        expect(Object.values(await statuses(given)).filter((each) => each !== 'saved shared')).toEqual([]);
        await assertErased(ids);
      };
      return { sent, check };
    },
  },
  {
    title: 'clear of the shared ones',
    appends: 3,
    racedFrom: 3,
    prepare: async (given) => {
      const ids = [await shared(given), await shared(given)];
      const check = async () => {
        const left = Object.keys(await statuses(given));
        await assertErased(ids.filter((id) => !left.includes(id)));
      };
      return { sent: { method: 'DELETE', path: `${given.path}?kind=shared` }, check };
    },
  },
];

describe('killed in the middle of all of them', () => {
  const kills = cases.flatMap((each) =>
    Array.from({ length: each.appends }, (_, index) => ({ ...each, n: index + 1 })),
  );
  /** The world of each, and what is to be there afterwards. */
  const killed: { readonly given: World; readonly check: Prepared['check'] }[] = [];
  beforeAll(async () => {
    const requests: Parameters<typeof killedTogether>[0][number][] = [];
    for (const { n, racedFrom, prepare } of kills) {
      const given = await world();
      const { sent, check } = await prepare(given);
      killed.push({ given, check });
      requests.push({ sent, at: n, raced: n >= racedFrom });
    }
    await killedTogether(requests);
  });

  it.each(kills.map((each, index) => ({ ...each, index })))(
    '$title, killed before append $n: places equal saved memories',
    async ({ n, index }) => {
      const { given, check } = killed[index] as (typeof killed)[number];
      await check(n);
      await assertPlaces(given.agentId, given.userId);
    },
  );
});

it.each([
  ['delete', (path: string, id: string) => ({ method: 'DELETE', path: `${path}/${id}` }) as const],
  ['clear', (path: string) => ({ method: 'DELETE', path }) as const],
])('%s, killed before the receipt: it comes, once, after the next start', async (_, sent) => {
  const given = await world();
  const id = await made(given.path, { text: name() });
  await killed(sent(given.path, id), 'ContentErased');
  await assertErased([id]);
  await assertPlaces(given.agentId, given.userId);
});
