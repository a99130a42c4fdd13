import { Decisions, systemClock } from '@app/kernel';
import { until } from '../fixtures/until';
import { type Memory, type MemoryWorld, startMemoryWorld } from './memory-world';

const DAY_MS = 86_400_000;

let world: MemoryWorld;
beforeAll(async () => {
  world = await startMemoryWorld();
});
afterAll(() => world.platform.stop());

/** Some days later, after what is left unfinished was looked for. */
const after = async <T>(days: number, work: () => Promise<T>, sweeps = true): Promise<T> => {
  const clock = jest.spyOn(systemClock, 'now').mockImplementation(() => new Date(Date.now() + days * DAY_MS));
  try {
    if (sweeps) await world.platform.platform.host.unfinished.finishAll();
    return await work();
  } finally {
    clock.mockRestore();
  }
};

interface Events {
  readonly items: readonly { readonly data: Readonly<Record<string, unknown>> }[];
}

it('a proposal that lapsed is none to answer who proposes its text again, though nobody has looked yet', async () => {
  const { viewer, post, choose } = world;
  const propose = () => post(viewer.key, { text: 'The lift is out of order', kind: 'shared' });
  const { id } = (await propose()).body;
  await after(
    31,
    async () => {
      const again = await propose();
      expect([again.status, again.body.id === id]).toEqual([201, false]);
      expect((await choose(viewer.key, again.body.id, 'confirm')).status).toBe(200);
      await world.platform.call(`${world.path()}/${again.body.id}`, { method: 'DELETE', key: world.owner.key });
    },
    false,
  );
});

it('a proposal that nobody chose lapses after thirty days, is erased with a receipt, and can be proposed anew', async () => {
  const { platform, viewer, post, list, choose } = world;
  const open = (await post(viewer.key, { text: 'The vault is on floor two', kind: 'shared' })).body;
  const saved = (await post(viewer.key, { text: 'I like tea' })).body;
  const ids = async () => (await list(viewer.key)).map(({ id }) => id).toSorted();
  expect(await after(29, ids)).toEqual([open.id, saved.id].toSorted());
  // Too late, though nobody has looked yet.
  const late = await after(31, () => choose(viewer.key, open.id, 'confirm'), false);
  expect([late.status, late.body]).toMatchObject([409, { code: 'conflict' }]);
  const read = async () => (await platform.call(`${world.path()}/${open.id}`, { key: viewer.key })).status;
  expect([await read(), await after(31, ids, false), await after(31, read, false)]).toEqual([200, [saved.id], 404]);
  expect(await ids()).toEqual([open.id, saved.id].toSorted());
  await after(31, () => until(async () => (await ids()).join() === saved.id, 'the end of the proposal'));
  const discarded = await platform.call<Events>(`/api/v1/audit/events?stream=memory-${open.id}&type=MemoryDiscarded`);
  expect(discarded.body.items).toMatchObject([{ data: { reason: 'lapsed' } }]);
  const receipts = async () =>
    (await platform.call<Events>('/api/v1/audit/events?type=ContentErased&limit=100')).body.items.filter(
      ({ data }) => data['stream'] === `memory-${open.id}`,
    );
  await until(async () => (await receipts()).length === 1, 'the receipt');
  expect((await choose(viewer.key, open.id, 'confirm')).status).toBe(409);
  const again = await post(viewer.key, { text: 'The vault is on floor two', kind: 'shared' });
  expect([again.status, again.body]).toMatchObject([201, { status: 'proposed' } satisfies Partial<Memory>]);
  expect(again.body.id).not.toBe(open.id);
});

it('a proposal that cannot be read keeps no other from lapsing', async () => {
  const { platform, viewer, post, list } = world;
  const propose = async (text: string) => (await post(viewer.key, { text, kind: 'shared' })).body.id;
  const [unreadable, other] = [await propose('The stairs are closed'), await propose('The gate is closed')];
  const decisions = platform.platform.app.get(Decisions);
  const load = decisions.load.bind(decisions);
  const reading = jest.spyOn(decisions, 'load').mockImplementation((decider, id) => {
    if (id === unreadable) throw new Error('damaged');
    return load(decider, id);
  });
  try {
    const ids = async () => (await list(viewer.key)).map(({ id }) => id);
    await after(40, async () => undefined);
    // As of today, when it has not lapsed.
    await until(async () => !(await ids()).includes(other), 'the end of the other proposal');
    expect(await ids()).toContain(unreadable);
  } finally {
    reading.mockRestore();
  }
});
