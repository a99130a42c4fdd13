import { TimeOrderedIds } from '@app/kernel';
import { bucketDecider, bucketIdOf, memoryDecider } from '@app/memory';
import { repeated } from '../fixtures/repeated';
import { until } from '../fixtures/until';
import { type EventStoreDouble, startEventStoreDouble } from '../servers/eventstoredb/double';
import type { Answer } from './harness';
import { CORE, type Memory, type MemoryWorld, startMemoryWorld } from './memory-world';

/** Requests at once for what only some may get. At two API processes: `test/servers/memory.spec.ts`. */

const PLACES = 6;
const ROUNDS = repeated(4, 12);
/** For what comes seconds later. */
const LATER = { patience: 20_000, every: 100 };

let world: MemoryWorld;

const codeOf = ({ body }: Answer<Memory>): string => String((body as never as { code?: string }).code);
const outcomes = (answers: readonly Answer<Memory>[]): readonly string[] =>
  answers.map((answer) => (answer.status < 300 ? String(answer.status) : codeOf(answer))).toSorted();
const propose = async (key: string, text: string, agentId: string): Promise<string> => {
  const { status, body } = await world.post(key, { text, kind: 'shared' }, agentId);
  expect(status).toBe(201);
  return body.id;
};
/** At an Agent of its own. */
const at = (agentId: string) => {
  const one = (method: 'PUT' | 'DELETE' | 'POST', rest: string, body?: object, key = world.owner.key) =>
    world.platform.call<Memory>(`${world.path(agentId)}/${rest}`, { method, key, ...(body && { body }) });
  return {
    choose: (id: string, choice: string, key?: string) => one('POST', `${id}/${choice}`, undefined, key),
    edit: (id: string, text: string) => one('PUT', id, { text }),
    remove: (id: string) => one('DELETE', id),
    saved: async () => (await world.list(world.owner.key, '?status=saved&limit=100', agentId)).map(({ id }) => id),
  };
};
/** Waits until both buckets have a place for each memory that is saved, and none else; and those that wait one for each proposal. */
const assertPlaces = async (agentId: string): Promise<void> => {
  const placesIn = async (bucketId: string) => {
    const { decisions } = world.platform.platform.host.stores;
    return [...(await decisions.load(bucketDecider, bucketId)).state.places.keys()];
  };
  const { userId, key } = world.owner;
  const personal = bucketIdOf({ agentId, userId, kind: 'personal' });
  const held = async () => [...(await placesIn(personal)), ...(await placesIn(agentId))].toSorted().join();
  await until(async () => (await held()) === (await at(agentId).saved()).toSorted().join(), 'places for what is saved');
  const waiting = bucketIdOf({ agentId, userId, kind: 'shared' }, 'proposed');
  const proposals = async () => (await world.list(key, '?status=proposed&limit=100', agentId)).map(({ id }) => id);
  await until(
    async () => (await placesIn(waiting)).toSorted().join() === (await proposals()).toSorted().join(),
    'places for what waits',
  );
};

describe.each<readonly [log: string, start: () => Promise<EventStoreDouble | undefined>]>([
  ['the embedded log', async () => undefined],
  ['EventStoreDB', () => startEventStoreDouble()],
])('of those who ask at once, on %s,', (_, start) => {
  let server: EventStoreDouble | undefined;
  let agentId: string;
  beforeAll(async () => {
    server = await start();
    world = await startMemoryWorld({
      environment: {
        MEMORY_SHARED_MAX: String(PLACES),
        MEMORY_PERSONAL_MAX: String(PLACES),
        ...(server === undefined ? {} : { EVENTSTORE_URL: server.url }),
      },
    });
  });
  beforeEach(async () => (agentId = await world.newAgent()));
  afterEach(() => assertPlaces(agentId));
  afterAll(async () => {
    await world.platform.stop();
    await server?.stop();
  });

  it('one chooses what becomes of a proposal', async () => {
    const { choose, saved } = at(agentId);
    for (let round = 0; round < ROUNDS; round += 1) {
      const id = await propose(world.owner.key, `Round ${round}`, agentId);
      const choices = round % 2 === 0 ? ['confirm', 'discard'] : ['discard', 'save-for-me'];
      const answers = await Promise.all(choices.map((choice) => choose(id, choice)));
      const wasDiscarded = answers[choices.indexOf('discard')]?.status === 204;
      expect(outcomes(answers)).toEqual([wasDiscarded ? '204' : '200', 'conflict']);
      expect((await saved()).includes(id)).toBe(!wasDiscarded);
      await world.platform.call(`${world.path(agentId)}/${id}`, { method: 'DELETE', key: world.owner.key });
    }
  });

  it('one of fifty who confirm gets the last free place; the others stay proposed', async () => {
    const { platform, owner, list, spaceId } = world;
    const { choose, saved } = at(agentId);
    for (let n = 0; n < PLACES - 1; n += 1) await choose(await propose(owner.key, `Taken ${n}`, agentId), 'confirm');
    const callers = await Promise.all(Array.from({ length: 10 }, () => platform.newCaller()));
    const keyOf = (n: number): string => callers[n % 10]?.key ?? '';
    for (const { userId } of callers)
      await platform.call(`${CORE}/spaces/${spaceId}/members/${userId}`, {
        method: 'PUT',
        key: owner.key,
        body: { role: 'viewer' },
      });
    const proposals: string[] = [];
    for (let n = 0; n < 50; n += 1) proposals.push(await propose(keyOf(n), `Wish ${n}`, agentId));
    const answers = await Promise.all(proposals.map((id, n) => choose(id, 'confirm', keyOf(n))));
    expect(outcomes(answers)).toEqual(['200', ...Array<string>(49).fill('memory_full')]);
    await until(async () => (await saved()).length === PLACES, 'the saved ones');
    const open = await Promise.all(callers.map(({ key }) => list(key, '?status=proposed', agentId)));
    expect(open.flat()).toHaveLength(49);
  });

  it('as many propose as may wait, none for a moment more, and a text waits once', async () => {
    const { owner, post, list, platform } = world;
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_each, n) => post(owner.key, { text: `Wish ${n}`, kind: 'shared' }, agentId)),
    );
    expect(outcomes(answers)).toEqual([
      ...Array<string>(PLACES).fill('201'),
      ...Array<string>(50 - PLACES).fill('memory_full'),
    ]);
    const proposed = await platform.call<{ items: { data: { agentId: string } }[] }>(
      '/api/v1/audit/events?type=MemoryProposed&limit=100',
    );
    expect(proposed.body.items.filter(({ data }) => data.agentId === agentId)).toHaveLength(PLACES);
    const waiting = async () => (await list(owner.key, '?status=proposed', agentId)).map(({ id }) => id).toSorted();
    const made = answers.flatMap(({ status, body }) => (status === 201 ? [body.id] : [])).toSorted();
    await until(async () => (await waiting()).join() === made.join(), 'those that may wait');
    const [first = ''] = await waiting();
    expect((await at(agentId).choose(first, 'discard')).status).toBe(204);
    const same = await Promise.all(
      Array.from({ length: 8 }, () => post(owner.key, { text: 'One wish', kind: 'shared' }, agentId)),
    );
    expect(new Set(same.map(({ body }) => body.id)).size).toBe(1);
    expect(outcomes(same)).toEqual([...Array<string>(7).fill('200'), '201']);
    await until(async () => (await waiting()).length === PLACES, 'the same once');
  });

  it.each([
    ['memory', { memoryEnabled: false }],
    ['sharing', { sharedMemoryEnabled: false }],
  ])('who switches %s off is not overtaken by a choice that comes later', async (_what, off) => {
    const { platform, owner } = world;
    const { choose, saved } = at(agentId);
    const proposals: string[] = [];
    for (let n = 0; n < PLACES; n += 1) proposals.push(await propose(owner.key, `Rule ${n}`, agentId));
    const early = proposals.slice(0, 3).map((id) => choose(id, 'confirm'));
    const change = await platform.call(`${CORE}/agents/${agentId}`, { method: 'PUT', key: owner.key, body: off });
    expect(change.status).toBe(200);
    const late = await Promise.all(proposals.slice(3).map((id) => choose(id, 'confirm')));
    expect(outcomes(late)).toEqual(Array(3).fill('memory_disabled'));
    const done = await Promise.all(early);
    expect(outcomes(done).filter((each) => each !== '200' && each !== 'memory_disabled')).toEqual([]);
    expect(await saved()).toHaveLength(done.filter(({ status }) => status === 200).length);
  });

  it('who deletes a memory leaves nothing for who edits it', async () => {
    const { edit, remove } = at(agentId);
    for (let round = 0; round < ROUNDS; round += 1) {
      const { id } = (await world.post(world.owner.key, { text: `Before ${round}` }, agentId)).body;
      const [edited, removed] = await Promise.all(
        round % 2 === 0
          ? [edit(id, `After ${round}`), remove(id)]
          : [remove(id), edit(id, `After ${round}`)].toReversed(),
      );
      expect(removed?.status).toBe(204);
      expect([200, 404]).toContain(edited?.status);
      expect((await edit(id, 'Anew')).status).toBe(404);
      // Its text is held by nothing that is gone.
      const again = await world.post(world.owner.key, { text: `After ${round}` }, agentId);
      expect(again.status).toBe(201);
      expect((await remove(again.body.id)).status).toBe(204);
    }
  });

  it('one gets a text who change memories to it, or save it', async () => {
    const { edit, remove } = at(agentId);
    for (let round = 0; round < ROUNDS / 2; round += 1) {
      const made = await Promise.all(
        ['One', 'Other'].map((text) => world.post(world.owner.key, { text: `${text} ${round}` }, agentId)),
      );
      const text = `Wanted ${round}`;
      const save = () => world.post(world.owner.key, { text }, agentId);
      const answers = await Promise.all([...made.map(({ body }) => edit(body.id, text)), save()]);
      // Who saves what another has, or is being given, is answered with that one.
      expect(outcomes(answers.slice(0, 2)).filter((each) => each === '200').length).toBe(
        answers[2]?.status === 201 ? 0 : 1,
      );
      const listed = await world.list(world.owner.key, '?limit=100', agentId);
      expect(listed.filter((memory) => memory.text === text)).toHaveLength(1);
      for (const { id } of listed) expect((await remove(id)).status).toBe(204);
    }
  });

  it('nobody saves the text of a memory again whose edit was cut short, before that is settled', async () => {
    const { owner, platform } = world;
    const { decisions } = platform.platform.host.stores;
    const tea = () => world.post(owner.key, { text: 'Drinks tea' }, agentId);
    const { id } = (await tea()).body;
    const ids = new TimeOrderedIds();
    const bucket = { agentId, userId: owner.userId, kind: 'personal' } as const;
    const edit = { memoryId: id, ticket: ids.next(), hash: 'coffee', replaces: null, screening: { version: '1' } };
    const meta = { commandId: ids.next(), actor: 'a request', correlationId: ids.next(), now: new Date() };
    const take = { type: 'Take', ...bucket, ...edit, use: 'edit', most: PLACES } as const;
    await decisions.transact(bucketDecider, bucketIdOf(bucket), take, meta);
    const again = await tea();
    expect([again.status, again.body.id]).toEqual([200, id]);
    const isSettled = async () =>
      (await decisions.load(bucketDecider, bucketIdOf(bucket))).state.places.get(id)?.edits.isEmpty() === true;
    await until(isSettled, 'what the edit was to change', LATER);
    expect((await at(agentId).edit(id, 'Drinks coffee')).status).toBe(200);
    const other = await tea();
    expect(other.status).toBe(201);
    expect(other.body.id).not.toBe(id);
  });

  it('an edit that is held up until its text was given to another does not change the memory any more', async () => {
    const { owner, platform } = world;
    const { decisions } = platform.platform.host.stores;
    const { id } = (await world.post(owner.key, { text: 'Drinks tea' }, agentId)).body;
    const bucketId = bucketIdOf({ agentId, userId: owner.userId, kind: 'personal' });
    const isHeld = async () =>
      (await decisions.load(bucketDecider, bucketId)).state.places.get(id)?.edits.isEmpty() === false;
    const transact = decisions.transact.bind(decisions);
    const held = Promise.withResolvers<void>();
    const stalled = jest.spyOn(decisions, 'transact').mockImplementation(async (decider, thing, command, meta) => {
      if ((command as { type: string }).type === 'Edit') {
        stalled.mockRestore();
        await held.promise;
      }
      return transact(decider, thing, command, meta);
    });
    const edit = at(agentId).edit(id, 'Drinks coffee');
    await until(isHeld, 'the place of the edit');
    await until(async () => !(await isHeld()), 'the end of its time', LATER);
    const other = await world.post(owner.key, { text: 'Drinks coffee' }, agentId);
    held.resolve();
    expect([other.status, codeOf(await edit)]).toEqual([201, 'conflict']);
    const listed = await world.list(owner.key, '?limit=100', agentId);
    expect(listed.map(({ text }) => text).toSorted()).toEqual(['Drinks coffee', 'Drinks tea']);
    // What it is shown with can be changed.
    const shown = listed.find((memory) => memory.id === id);
    const changed = await platform.call(`${world.path(agentId)}/${id}`, {
      method: 'PUT',
      key: owner.key,
      headers: { 'if-match': `"${shown?.revision}"` },
      body: { text: 'Drinks water' },
    });
    expect(changed.status).toBe(200);
  });

  it('an edit that is held up while its text stays free is done', async () => {
    const { decisions } = world.platform.platform.host.stores;
    const { id } = (await world.post(world.owner.key, { text: 'Likes rain' }, agentId)).body;
    const transact = decisions.transact.bind(decisions);
    const stalled = jest.spyOn(decisions, 'transact').mockImplementation(async (decider, thing, command, meta) => {
      if ((command as { type: string }).type === 'Edit') {
        stalled.mockRestore();
        const abandon = { type: 'AbandonEdit', ticket: ids.next(), hash: 'snow' } as const;
        await transact(memoryDecider, id, abandon, { ...meta, commandId: ids.next() });
      }
      return transact(decider, thing, command, meta);
    });
    const ids = new TimeOrderedIds();
    expect((await at(agentId).edit(id, 'Likes snow')).status).toBe(200);
    expect((await world.list(world.owner.key, '?limit=100', agentId)).map(({ text }) => text)).toEqual(['Likes snow']);
  });

  it('one takes the place of a memory', async () => {
    const { saved } = at(agentId);
    const outdated = await world.post(world.owner.key, { text: 'I live in Bonn' }, agentId);
    expect(outdated.status).toBe(201);
    const replaces = outdated.body.id;
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_each, n) =>
        world.post(world.owner.key, { text: `I live in house ${n}`, replaces }, agentId),
      ),
    );
    expect(outcomes(answers).filter((each) => each === '201')).toHaveLength(1);
    expect(outcomes(answers).filter((each) => !['201', 'conflict', 'not_found'].includes(each))).toEqual([]);
    expect(await saved()).toEqual(answers.filter(({ status }) => status === 201).map(({ body }) => body.id));
  });
});
