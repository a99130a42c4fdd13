import { aggregates } from '@app/hosting';
import { ids } from '../../../test/fixtures/decisions-in-memory';
import { MemoryLog } from '../../../test/fixtures/memory-log';
import { blobsUnder } from './blobs-under';

/** A stream with events of its own and of two entities, each of which names a body or gives one up. */
const setUp = async (stream: string) => {
  const log = new MemoryLog();
  const append = (type: string, data: object, entity?: string) =>
    log.append(
      stream,
      [{ id: ids.next(), type, data: JSON.stringify(data), metadata: JSON.stringify({ ...(entity && { entity }) }) }],
      'any',
    );
  await append('DocumentAdded', { file: 'file' });
  await append('DocumentExtracted', { text: 'text' }, 'one');
  await append('DocumentExtracted', { text: 'other' }, 'two');
  await append('DocumentReady', { superseded: ['before', 'text'] }, 'one');
  const reads = jest.spyOn(log, 'readStream');
  return { reads, under: blobsUnder(log, aggregates) };
};

it.each([
  ['a stream, also those of its entities', 'document-1', ['file', 'text', 'other', 'before']],
  ['an entity, and none of others', 'document-1/one', ['text', 'before']],
])('finds what was ever named under the key of %s', async (_, key, names) => {
  expect(await (await setUp('document-1')).under(key)).toEqual(names);
});

it('reads no stream of what holds no bodies', async () => {
  const { reads, under } = await setUp('prompt-1');
  expect(await under('prompt-1')).toEqual([]);
  expect(reads).not.toHaveBeenCalled();
});
