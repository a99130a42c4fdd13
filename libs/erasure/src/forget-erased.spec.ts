import { aggregates } from '@app/hosting';
import { type CommandMeta, Decisions, EventCodec, type Keyring, TimeOrderedIds, Unavailable } from '@app/kernel';
import { promptDecider } from '@app/spaces';
import { MemoryLog } from '../../../test/fixtures/memory-log';
import { until } from '../../../test/fixtures/until';
import { erasureReceipt } from './erasure-receipt.decider';
import { ForgetErased } from './forget-erased';

const ids = new TimeOrderedIds();
const meta = (): CommandMeta => {
  const commandId = ids.next();
  return { commandId, correlationId: commandId, actor: 'user:u1', now: new Date(0) };
};
const key = Buffer.alloc(32);
const keys: Keyring = {
  ensureKey: async () => key,
  keys: async (names) => new Map(names.map((name) => [name, key])),
};

it('a process that remembers what another one erased shows nothing of it while the log is away', async () => {
  const log = new MemoryLog();
  const readStream = log.readStream.bind(log);
  let isDown = false;
  log.readStream = async (...asked) => {
    if (isDown) throw new Unavailable('event log', 'it is away');
    return readStream(...asked);
  };
  const codec = new EventCodec(aggregates.catalogue, keys);
  const [eraser, reader] = [new Decisions(log, codec), new Decisions(log, codec)];
  const forgetting = new ForgetErased({ log, decisions: reader, after: await log.head() });
  forgetting.start();
  const forgotten: string[] = [];
  reader.onForget((stream) => forgotten.push(stream));
  const fields = { title: 'Harbour', text: 'The code is 4711.', tags: [] };
  for (const id of ['gone', 'kept']) {
    await eraser.transact(promptDecider, id, { type: 'Create', spaceId: ids.next(), fields }, meta());
    expect((await reader.load(promptDecider, id)).state).toMatchObject(fields);
  }
  await eraser.transact(promptDecider, 'gone', { type: 'Delete' }, meta());
  const eventId = ids.next();
  const receipt = { eventId, eventType: 'PromptDeleted', stream: 'prompt-gone', blobs: 0, purged: [] };
  await eraser.transact(erasureReceipt, eventId, { ...receipt, streams: ['prompt-gone', 'conversation-c/m'] }, meta());
  await until(() => forgotten.length === 2, 'the receipt is heard of');
  expect(forgotten).toEqual(['prompt-gone', 'conversation-c']);
  isDown = true;
  expect((await reader.recall(promptDecider, 'kept')).state).toMatchObject(fields);
  await expect((async () => reader.recall(promptDecider, 'gone'))()).rejects.toMatchObject({ name: 'Unavailable' });
  isDown = false;
  await forgetting.stop();
});
