import { InstanceSecret, Unavailable } from '@app/kernel';
import { decisionsInMemory, ids, meta } from '../../../../test/fixtures/decisions-in-memory';
import { bucketDecider } from '../bucket/bucket.decider';
import { bucketEvents } from '../bucket/bucket.events';
import { bucketIdOf, Places } from '../bucket/places';
import { Forgetting } from './forgetting';
import { memoryDecider } from './memory.decider';
import { memoryEvents } from './memory.events';

const screening = { version: '1' };
const USER_ID = ids.next();

describe('Forgetting', () => {
  const setUp = () => {
    const { log, decisions } = decisionsInMemory([...memoryEvents, ...bucketEvents]);
    const places = new Places(decisions, new InstanceSecret(Buffer.alloc(32)), ids, {
      MEMORY_PERSONAL_MAX: 100,
      MEMORY_SHARED_MAX: 100,
    });
    const [spaceId, userId] = [ids.next(), USER_ID];
    const save = async (agentId: string): Promise<string> => {
      const memoryId = ids.next();
      const owner = { agentId, userId, kind: 'personal' } as const;
      const known = { memoryId, hash: memoryId, replaces: null, screening };
      const memory = { ...known, ...owner, spaceId, text: 'Tea', origin: 'user', source: null } as const;
      await places.taking(owner, { ...known, use: 'save' }, meta(), () =>
        decisions.transact(memoryDecider, memoryId, { type: 'Save', memory }, meta()),
      );
      return memoryId;
    };
    const placesOf = async (agentId: string): Promise<number> =>
      (await decisions.load(bucketDecider, bucketIdOf({ agentId, userId, kind: 'personal' }))).state.places.size;
    const releasesOf = async (agentId: string): Promise<number> => {
      const bucket = await log.readStream(`memories-${bucketIdOf({ agentId, userId, kind: 'personal' })}`);
      return bucket.filter(({ type }) => type === 'MemoryPlaceReleased').length;
    };
    return { log, decisions, forgetting: new Forgetting(decisions, places), save, placesOf, releasesOf };
  };

  it('gives places back as it goes, those of a bucket together, however the memories are mixed', async () => {
    const { forgetting, save, placesOf, releasesOf } = setUp();
    const agents = [ids.next(), ids.next()] as const;
    const memoryIds: string[] = [];
    for (let n = 0; n < 30; n += 1) memoryIds.push(await save(agents[n % 2] as string));
    await forgetting.deleteAll(memoryIds, meta());
    for (const agentId of agents) {
      expect(await placesOf(agentId)).toBe(0);
      expect(await releasesOf(agentId)).toBe(2);
    }
  });

  it('answers the later of where a memory was saved, and where that was deleted whose place it took', async () => {
    const { decisions, forgetting, save } = setUp();
    const agentId = ids.next();
    const [gone, there, other] = [await save(agentId), await save(agentId), await save(agentId)];
    await forgetting.delete(gone, meta());
    const saved = await decisions.transact(memoryDecider, other, { type: 'Delete' }, meta());
    expect(await forgetting.replacedBy({ replaces: gone }, saved, meta())).toEqual(saved);
    const { position } = await forgetting.replacedBy({ replaces: there }, saved, meta());
    expect(position > saved.position).toBe(true);
  });

  it('gives a place back once, however many are at it', async () => {
    const { log, forgetting, save, placesOf } = setUp();
    const agentId = ids.next();
    const memoryIds = [await save(agentId), await save(agentId)];
    const append = jest.spyOn(log, 'append');
    const place = { agentId, userId: USER_ID, kind: 'personal' } as const;
    await Promise.all([
      forgetting.freePlaces(memoryIds, place, meta()),
      ...memoryIds.map((memoryId) => forgetting.freePlaces([memoryId], place, meta())),
    ]);
    expect(await placesOf(agentId)).toBe(0);
    expect(append).toHaveBeenCalledTimes(1);
  });

  it('answers where the log stood behind the last of them', async () => {
    const { log, decisions, forgetting, save } = setUp();
    const agentId = ids.next();
    const memoryIds: string[] = [];
    for (let n = 0; n < 7; n += 1) memoryIds.push(await save(agentId));
    const { last: receipt } = await forgetting.deleteEach(memoryIds, meta());
    const ends = await Promise.all(memoryIds.map(async (id) => (await log.readStream(`memory-${id}`)).at(-1)));
    expect(receipt?.position).toBe(
      ends
        .map((event) => event?.position ?? '')
        .toSorted()
        .at(-1),
    );
    for (const id of memoryIds) expect((await decisions.load(memoryDecider, id)).state.status).toBe('deleted');
  });

  it('deletes the others where one fails, says which did, and gives back no place of that', async () => {
    const { decisions, forgetting, save, placesOf } = setUp();
    const agentId = ids.next();
    const memoryIds: string[] = [];
    for (let n = 0; n < 25; n += 1) memoryIds.push(await save(agentId));
    const [unread, unwritten] = [memoryIds[0] as string, memoryIds[12] as string];
    const failing = new Set([unread, unwritten]);
    const [load, transact] = [decisions.load.bind(decisions), decisions.transact.bind(decisions)];
    jest.spyOn(decisions, 'load').mockImplementation((decider, id) => {
      if (id === unread && failing.has(id)) throw new Error('cannot be read');
      return load(decider, id);
    });
    jest.spyOn(decisions, 'transact').mockImplementation((decider, id, ...given) => {
      if (id === unwritten && failing.has(id)) throw new Error('cannot be written');
      return transact(decider, id, ...given);
    });
    const { last, failures } = await forgetting.deleteEach(memoryIds, meta());
    expect(last).toBeDefined();
    expect(failures.map(({ id }) => id)).toEqual([unread, unwritten]);
    await expect(forgetting.deleteAll(memoryIds, meta())).rejects.toThrow('cannot be read');
    expect(await placesOf(agentId)).toBe(2);
    failing.clear();
    const statuses = await Promise.all(
      memoryIds.map(async (id) => (await decisions.load(memoryDecider, id)).state.status),
    );
    expect(memoryIds.filter((_id, n) => statuses[n] !== 'deleted')).toEqual([unread, unwritten]);
    await forgetting.deleteAll(memoryIds, meta());
    expect(await placesOf(agentId)).toBe(0);
  });

  it('ends where a store is away, and gives back the places of those that were deleted', async () => {
    const { decisions, forgetting, save, placesOf } = setUp();
    const agentId = ids.next();
    const memoryIds: string[] = [];
    for (let n = 0; n < 30; n += 1) memoryIds.push(await save(agentId));
    const transact = decisions.transact.bind(decisions);
    const away = jest.spyOn(decisions, 'transact').mockImplementation((decider, id, ...given) => {
      if (id === memoryIds[12]) throw new Unavailable('eventLog', 'away');
      return transact(decider, id, ...given);
    });
    await expect(forgetting.deleteEach(memoryIds, meta())).rejects.toThrow(Unavailable);
    expect(await placesOf(agentId)).toBe(11);
    away.mockRestore();
    await forgetting.deleteAll(memoryIds, meta());
    expect(await placesOf(agentId)).toBe(0);
  });
});
