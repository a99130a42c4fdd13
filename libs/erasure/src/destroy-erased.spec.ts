import { aggregates } from '@app/hosting';
import { type KeySelector, TimeOrderedIds } from '@app/kernel';
import { MemoryLog } from '../../../test/fixtures/memory-log';
import { destroyErased } from './destroy-erased';

const ids = new TimeOrderedIds();
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
    await destroyErased({ log, vault, aggregates });
    expect(vault.asked).toEqual([{ stream: 'prompt-1' }, { spaceId: '2' }]);
  }
});

test('a vault that notes an event of the log has those destroyed that were deleted behind it, and none twice', async () => {
  const log = await logOfTwo();
  const vault = vaultWith();
  await destroyErased({ log, vault, aggregates });
  vault.asked = [];
  await destroyErased({ log, vault, aggregates });
  expect(vault.asked).toEqual([]);
  const older = vaultWith(vault.noted);
  await deleted(log, 'prompt-3', 'PromptDeleted');
  for (const each of [vault, older]) {
    each.asked = [];
    await destroyErased({ log, vault: each, aggregates });
    expect(each.asked).toEqual([{ stream: 'prompt-3' }]);
  }
});
