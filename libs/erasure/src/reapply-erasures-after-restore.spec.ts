import { aggregates } from '@app/hosting';
import {
  type CommandMeta,
  Decisions,
  deriveId,
  DomainError,
  EventCodec,
  type Json,
  type Keyring,
  type KeySelector,
  TimeOrderedIds,
} from '@app/kernel';
import { promptDecider } from '@app/spaces';
import { FixedClock } from '../../../test/fixtures/fixed-clock';
import { MemoryLog } from '../../../test/fixtures/memory-log';
import { ReapplyErasures, noteReceipt } from './reapply-erasures-after-restore';

const ids = new TimeOrderedIds();
const key = Buffer.alloc(32);
const keys: Keyring = { ensureKey: async () => key, keys: async () => new Map() };
const prompt = ids.next();
const { decide } = promptDecider;

/** What views keep over the logs that are put in place beside them. */
const states = () => {
  const kept = new Map<string, Json>();
  return {
    kept,
    readState: async (name: string) => kept.get(name),
    writeState: async (name: string, value: Json | null) => {
      if (value === null) kept.delete(name);
      else kept.set(name, value);
      return true;
    },
  };
};

/** A start on a log of before the erasure of a prompt, by which `receipts` is told of each event. `destroyed`: keys that the vault destroyed, in order. */
const startOn = async (
  readStore: ReturnType<typeof states>,
  receipts: (type: string, log: MemoryLog) => Promise<void> = async () => undefined,
  destroyed: readonly string[] = [`prompt-${prompt}`],
) => {
  const log = new MemoryLog();
  const decisions = new Decisions(log, new EventCodec(aggregates.catalogue, keys));
  const commandId = ids.next();
  const meta: CommandMeta = { commandId, correlationId: commandId, actor: 'user:u1', now: new Date(0) };
  const fields = { title: 'Harbour', text: 'The code is 4711.', tags: [] };
  await decisions.transact(promptDecider, prompt, { type: 'Create', spaceId: ids.next(), fields }, meta);
  const append = log.append.bind(log);
  log.append = async (stream, events, ...rest) => {
    const appended = await append(stream, events, ...rest);
    for (const { type } of events) await receipts(type, log);
    return appended;
  };
  const [again, warn]: [KeySelector[], jest.Mock] = [[], jest.fn()];
  const finish = () =>
    new ReapplyErasures({
      decisions,
      log,
      vault: {
        destroyed: async (after, limit) => {
          const from = after === null ? 0 : destroyed.indexOf(after) + 1;
          return destroyed.slice(from, from + limit).map((stream) => ({ stream, at: new Date(0).toISOString() }));
        },
        destroy: async (selector) => {
          again.push(selector);
          return [];
        },
        note: async () => undefined,
        setNote: async () => undefined,
      },
      readStore,
      aggregates,
      ids,
      clock: new FixedClock(),
      logger: { info: () => undefined, warn },
    }).run();
  await finish();
  return {
    log,
    finish,
    again,
    warn,
    types: async () => (await log.readStream(`prompt-${prompt}`)).map(({ type }) => type),
  };
};

describe('erasures of after a log that was put in place', () => {
  it('are finished each time, also where their receipts came while the others were finished', async () => {
    const readStore = states();
    for (let time = 0; time < 2; time += 1) {
      const { types } = await startOn(readStore, async (type) => {
        if (type === 'PromptDeleted') await noteReceipt(readStore, `erasure-${deriveId(prompt, String(time))}`);
      });
      expect(await types()).toEqual(['PromptAdded', 'PromptDeleted']);
    }
  });

  it('have the keys destroyed again of what the log knows as deleted, of which nothing else is done', async () => {
    const readStore = states();
    const { finish, again, warn } = await startOn(readStore);
    expect([again, warn.mock.calls.length]).toEqual([[], 1]);
    readStore.kept.delete('erasures-finished');
    await finish();
    expect([again, warn.mock.calls.length]).toEqual([[{ stream: `prompt-${prompt}` }], 1]);
  });

  it('are no longer looked for by a receipt that another log held', async () => {
    const readStore = states();
    await noteReceipt(readStore, `erasure-${ids.next()}`);
    await startOn(readStore);
    expect([...readStore.kept.keys()]).toEqual(['erasures-finished']);
  });

  it('are finished also where they are many, most of which the log knows nothing of', async () => {
    const unknown = Array.from({ length: 1_000 }, () => `prompt-${ids.next()}`);
    const { types } = await startOn(states(), undefined, [...unknown, `prompt-${prompt}`]);
    expect(await types()).toEqual(['PromptAdded', 'PromptDeleted']);
  });

  it('are left to whoever was faster, and looked for again where one failed', async () => {
    const readStore = states();
    const deletion = jest.spyOn(promptDecider, 'decide');
    const failing = (error: Error) =>
      deletion.mockImplementation((command, state) => {
        if (command.type === 'Delete') throw error;
        return decide(command, state);
      });
    try {
      failing(new DomainError('not_found'));
      await startOn(readStore);
      expect(readStore.kept.get('erasures-finished')).toBeDefined();
      failing(new Error('damaged'));
      readStore.kept.set('erasures-finished', { at: 'before', receipt: `erasure-${ids.next()}` });
      await expect(startOn(readStore)).rejects.toThrow('damaged');
      expect(readStore.kept.get('erasures-finished')).toBeUndefined();
    } finally {
      deletion.mockRestore();
    }
  });

  it('are looked for once in a log that holds the last receipt', async () => {
    const readStore = states();
    const { log, finish } = await startOn(readStore);
    const receipt = `erasure-${ids.next()}`;
    await noteReceipt(readStore, receipt);
    const [event] = await log.readStream(`prompt-${prompt}`);
    if (event === undefined) throw new Error('the prompt is in no log');
    await log.append(receipt, [{ ...event, id: ids.next() }], 'noStream');
    readStore.kept.set('erasures-finished', { at: 'before', receipt: null });
    await finish();
    expect(readStore.kept.get('erasures-finished')).toMatchObject({ at: 'before' });
  });
});
