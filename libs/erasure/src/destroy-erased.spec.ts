import { aggregates } from '@app/hosting';
import { type KeySelector, TimeOrderedIds } from '@app/kernel';
import { FixedClock } from '../../../test/fixtures/fixed-clock';
import { MemoryLog } from '../../../test/fixtures/memory-log';
import { destroyErased } from './destroy-erased';

const ids = new TimeOrderedIds();
const quiet = { clock: new FixedClock(), logger: { info: () => undefined } };
const deleted = (log: MemoryLog, stream: string, type: string, data = '{}') =>
  log.append(stream, [{ id: ids.next(), type, data, metadata: '{}' }], 'any');

/** A vault of which only this matters: what it was asked to destroy, and its note. */
const vaultWith = (note?: string) => {
  const vault = {
    asked: [] as KeySelector[],
    noted: note,
    destroy: async (selector: KeySelector) => {
      vault.asked.push(selector);
      return [];
    },
    note: async () => vault.noted,
    setNote: async (text: string) => void (vault.noted = text),
  };
  return vault;
};

const logOfTwo = async () => {
  const log = new MemoryLog();
  await deleted(log, 'prompt-1', 'PromptDeleted');
  await deleted(log, 'space-1', 'SpaceDeleted', '{ damaged');
  await deleted(log, 'space-2', 'SpaceDeleted');
  return log;
};

test('a vault that notes nothing, or an event that the log does not hold, has all keys destroyed that the log knows as deleted', async () => {
  const log = await logOfTwo();
  const elsewhere = { id: ids.next(), stream: 'prompt-1', revision: 0, position: (await log.head()) ?? '' };
  for (const note of [undefined, JSON.stringify(elsewhere), 'no place']) {
    const vault = vaultWith(note);
    await destroyErased({ log, vault, aggregates, ...quiet });
    expect(vault.asked).toEqual([{ stream: 'prompt-1' }, { spaceId: '2' }]);
  }
});

test('a vault that notes an event of the log has those destroyed that were deleted behind it, and none twice', async () => {
  const log = await logOfTwo();
  const vault = vaultWith();
  await destroyErased({ log, vault, aggregates, ...quiet });
  vault.asked = [];
  await destroyErased({ log, vault, aggregates, ...quiet });
  expect(vault.asked).toEqual([]);
  const older = vaultWith(vault.noted);
  await deleted(log, 'prompt-3', 'PromptDeleted');
  for (const each of [vault, older]) {
    each.asked = [];
    await destroyErased({ log, vault: each, aggregates, ...quiet });
    expect(each.asked).toEqual([{ stream: 'prompt-3' }]);
  }
});

test('a log that takes long says how far it is read, and is read on from there where that was cut short', async () => {
  const log = new MemoryLog();
  for (let prompt = 0; prompt < 1_200; prompt += 1) await deleted(log, `prompt-${prompt}`, 'PromptDeleted');
  const clock = new FixedClock();
  const said: object[] = [];
  const logger = { info: (facts: object) => void said.push(facts) };
  const vault = vaultWith();
  let pages = 0;
  const slow = {
    readStream: log.readStream.bind(log),
    readAll: (...given: Parameters<MemoryLog['readAll']>) => {
      clock.advance(6_000);
      if (given[0]?.direction !== 'backwards' && (pages += 1) === 2) return Promise.reject(new Error('cut short'));
      return log.readAll(...given);
    },
  };
  await expect(destroyErased({ log: slow, vault, aggregates, clock, logger })).rejects.toThrow('cut short');
  const { events } = await log.readAll({ limit: 500 });
  expect(said).toEqual([{ position: events.at(-1)?.position, head: await log.head() }]);
  expect(vault.asked).toHaveLength(500);
  vault.asked = [];
  await destroyErased({ log: slow, vault, aggregates, clock, logger });
  expect([vault.asked.length, vault.asked[0]]).toEqual([700, { stream: 'prompt-500' }]);
  expect(said).toHaveLength(2);
});
