import { aggregates } from '@app/hosting';
import {
  type CommandMeta,
  Decisions,
  deriveId,
  EventCodec,
  FixedClock,
  type Json,
  type Keyring,
  TimeOrderedIds,
} from '@app/kernel';
import { promptDecider } from '@app/spaces';
import { MemoryLog } from '../../../test/fixtures/memory-log';
import { ReapplyErasures, noteReceipt } from './reapply-erasures-after-restore';

const ids = new TimeOrderedIds();
const key = Buffer.alloc(32);
const keys: Keyring = { ensureKey: async () => key, keys: async () => new Map() };
const prompt = ids.next();

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

/** A start on a log of before the erasure of a prompt, by which `receipts` is told of each event. */
const startOn = async (
  readStore: ReturnType<typeof states>,
  receipts: (type: string, log: MemoryLog) => Promise<void> = async () => undefined,
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
  const finish = () =>
    new ReapplyErasures({
      decisions,
      log,
      vault: {
        destroyed: async () => [{ stream: `prompt-${prompt}`, at: new Date(0).toISOString() }],
        destroy: async () => [],
        note: async () => undefined,
        setNote: async () => undefined,
      },
      readStore,
      aggregates,
      ids,
      clock: new FixedClock(),
      logger: { info: () => undefined, warn: () => undefined },
    }).run();
  await finish();
  return { log, finish, types: async () => (await log.readStream(`prompt-${prompt}`)).map(({ type }) => type) };
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
