import { systemClock, Unavailable } from '@app/kernel';
import { MemoryLogger } from '../../../test/fixtures/counters';
import { MemoryCoordinationStore } from '../../../test/fixtures/memory-coordination-store';
import { until } from '../../../test/fixtures/until';
import { type LeaseGroup } from './lease-member';
import { Leases } from './leases';
import { Processes } from './processes';

describe('shared work that cannot be taken', () => {
  const logger = new MemoryLogger();
  const failing = { with: undefined as Error | undefined, times: 0 };
  const group = (name: string): LeaseGroup => ({
    name,
    declaration: 'one',
    units: 1,
    order: 0,
    onChange: async () => {
      if (failing.with === undefined) return;
      failing.times += 1;
      throw failing.with;
    },
  });
  const parts = { store: new MemoryCoordinationStore(), clock: systemClock, logger };
  const processes = new Processes({
    ...parts,
    id: 'one',
    roles: ['projector'],
    version: '1.0.0',
    alone: true,
    silenceMs: 25,
  });
  const leases = new Leases({ ...parts, processes });
  const told = () => logger.lines.splice(0).map((line) => JSON.parse(line) as { groups: string[]; reason: string });
  const failTimes = async (times: number): Promise<void> => {
    failing.times = 0;
    await until(() => failing.times >= times, 'attempts');
  };
  const heldAgain = async (): Promise<void> => {
    failing.with = undefined;
    for (const { name } of groups) await leases.fenced(name);
    await until(() => groups.every(({ name }) => leases.heldOf(name).size === 1), 'what was free to be taken');
  };
  const groups = ['agents', 'spaces', 'usage'].map(group);

  beforeAll(() => processes.start());
  afterAll(() => processes.stop());

  it('is told once an outage with its reason, for all groups together, and again in the next one', async () => {
    failing.with = new Unavailable('event log', 'the server cannot be reached');
    const members = await leases.join(groups);
    await failTimes(12);
    const message = 'Taking or giving back shared work failed; retrying.';
    const line = {
      groups: ['agents', 'spaces', 'usage'],
      reason: 'event log is unavailable: the server cannot be reached',
      message,
    };
    expect(told()).toEqual([line]);

    failing.with = new Unavailable('event log', 'the server did not answer in time');
    await failTimes(12);
    expect(told()).toEqual([]);
    failing.with = new TypeError('content');
    await failTimes(12);
    expect(told()).toEqual([{ ...line, reason: 'TypeError' }]);

    await heldAgain();
    told();
    failing.with = new Unavailable('views', 'away');
    for (const { name } of groups) await leases.fenced(name).catch(() => undefined);
    await failTimes(12);
    expect(told().filter((each) => each.reason !== undefined)).toEqual([
      { ...line, reason: 'views is unavailable: away' },
    ]);
    await heldAgain();
    await leases.leave(members);
  });
});

describe('shared work that one process has all of for a time', () => {
  it('is done, and is shared again, though the store does not take at first that it is', async () => {
    const store = new MemoryCoordinationStore();
    const parts = { store, clock: systemClock, logger: new MemoryLogger() };
    const processes = new Processes({ ...parts, id: 'one', roles: [], version: '1.0.0', alone: false, silenceMs: 25 });
    const leases = new Leases({ ...parts, processes });
    await processes.start();
    const group = { name: 'view', declaration: 'one', units: 2, order: 0, onChange: async () => undefined };
    const [member] = await leases.join([group]);
    const wanted = async () => ((await store.read('lease/view/one')) as { readonly wanted?: string }).wanted;
    const write = store.write.bind(store);
    let failed = 0;
    const done = await member?.withAll(async () => {
      expect(await wanted()).toBe('one');
      store.write = async (key, ...given) => {
        if (!key.startsWith('lease/') || failed === 3) return write(key, ...given);
        failed += 1;
        throw new Unavailable('coordination', 'no answer', 'unknown');
      };
      return 'done';
    });
    expect(done).toBe('done');
    await until(async () => (await wanted()) === undefined, 'the others to have their units again');
    expect(leases.heldOf('view').size).toBe(2);
    await leases.leave(member === undefined ? [] : [member]);
    await processes.stop();
  });
});
