import {
  type CommandMeta,
  Decisions,
  EventCatalogue,
  EventCodec,
  type Keyring,
  TimeOrderedIds,
  Unavailable,
} from '@app/kernel';
import { Claims } from '@app/coordination';
import { FixedClock } from '../../../../test/fixtures/fixed-clock';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { MemoryCoordinationStore } from '../../../../test/fixtures/memory-coordination-store';
import { addedDocumentId, Batches } from './batches';
import { documentDecider } from './document.decider';
import { documentEvents } from './document.events';

const LATER_MS = 10_000 + 30_001;

const setUp = () => {
  const keyring: Keyring = {
    ensureKey: async () => Buffer.alloc(32, 1),
    keys: async (streams) => new Map(streams.map((stream) => [stream, Buffer.alloc(32, 1)])),
  };
  const [log, store, ids, clock] = [
    new MemoryLog(),
    new MemoryCoordinationStore(),
    new TimeOrderedIds(),
    new FixedClock(),
  ];
  const decisions = new Decisions(log, new EventCodec(new EventCatalogue(documentEvents), keyring));
  const process = () => new Batches(decisions, new Claims(store, clock, ids.next(), 10_000, console), clock);
  const meta: CommandMeta = { commandId: ids.next(), correlationId: ids.next(), actor: 'user:1', now: clock.now() };
  const add = (index: number) => {
    const documentId = addedDocumentId(meta, index);
    const document = {
      scope: 'global',
      spaceId: null,
      agentId: null,
      name: `${index}.md`,
      mimeType: 'text/markdown',
      provider: 'upload',
      tagIds: [],
      file: ids.next(),
      sizeBytes: 1,
      contentHash: 'a',
    } as const;
    return decisions.transact(
      documentDecider,
      documentId,
      { type: 'Add', documentId, ...document },
      { ...meta, commandId: documentId },
    );
  };
  const remove = (index: number) =>
    decisions.transact(
      documentDecider,
      addedDocumentId(meta, index),
      { type: 'Delete' },
      { ...meta, commandId: ids.next() },
    );
  const statuses = () =>
    Promise.all(
      [0, 1].map(async (index) => (await decisions.load(documentDecider, addedDocumentId(meta, index))).state.status),
    );
  return { log, store, clock, meta, process, add, remove, statuses };
};

describe('documents of one command', () => {
  it('are all there, and stay, also where one is deleted then and the claim is left standing', async () => {
    const { store, clock, meta, process, add, remove, statuses } = setUp();
    const work = async () => {
      await add(0);
      await add(1);
      jest.spyOn(store, 'write').mockRejectedValueOnce(new Unavailable('views', 'away'));
      return 'added';
    };
    expect(await process().add(2, meta, work)).toBe('added');
    await remove(0);
    clock.advance(LATER_MS);
    await process().finish();
    expect(await statuses()).toEqual(['Deleted', 'Pending']);
  });

  it('are withdrawn where one cannot be added, and the reason is told', async () => {
    const { meta, process, add, statuses } = setUp();
    const work = async () => {
      await add(0);
      throw new Error('too many');
    };
    await expect(process().add(2, meta, work)).rejects.toThrow('too many');
    expect(await statuses()).toEqual(['Deleted', 'Absent']);
  });

  it('are withdrawn later where the log is away, also when the last may have been added', async () => {
    const { log, clock, meta, process, add, statuses } = setUp();
    const away = jest.spyOn(log, 'append');
    const work = async () => {
      await add(0);
      await add(1);
      away.mockRejectedValue(new Unavailable('log', 'away'));
      throw new Unavailable('log', 'its answer was lost', 'unknown');
    };
    await expect(process().add(2, meta, work)).rejects.toMatchObject({ name: 'Unavailable', outcome: 'unknown' });
    expect(await statuses()).toEqual(['Pending', 'Pending']);
    clock.advance(LATER_MS);
    await expect(process().finish()).rejects.toThrow('away');
    away.mockRestore();
    clock.advance(LATER_MS);
    await process().finish();
    expect(await statuses()).toEqual(['Deleted', 'Deleted']);
  });

  it('are withdrawn half a minute later where their process died in between', async () => {
    const { clock, meta, process, add, statuses } = setUp();
    const died = Promise.withResolvers<never>();
    const first = Promise.withResolvers<void>();
    const work = async () => {
      await add(0);
      first.resolve();
      return died.promise;
    };
    const dying = process()
      .add(2, meta, work)
      .catch(() => 'died');
    await first.promise;
    const living = process();
    clock.advance(LATER_MS - 1);
    await living.finish();
    expect(await statuses()).toEqual(['Pending', 'Absent']);
    clock.advance(1);
    await living.finish();
    expect(await statuses()).toEqual(['Deleted', 'Absent']);
    died.reject(new Error('the test is over'));
    expect(await dying).toBe('died');
  });
});
