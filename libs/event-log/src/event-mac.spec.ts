import { createHmac, hkdfSync, randomUUID } from 'node:crypto';
import type { ExpectedRevision, NewEvent, StoredEvent } from '@app/kernel';
import { MemoryLog } from '../../../test/fixtures/memory-log';
import { eventMacOf, stampAppends, withoutMac } from '.';
import { InvalidAppend } from './event-log';

const SECRET = 'the secret of the seals, long enough to be one';
const mac = eventMacOf(SECRET);
const event = (changes: Partial<NewEvent> = {}): NewEvent => ({
  id: randomUUID(),
  type: 'Noted',
  data: '{"text":"a"}',
  metadata: '{"actor":"user:u1"}',
  ...changes,
});
const stored = (stream: string, expected: ExpectedRevision, revision: number, given = event()): StoredEvent => {
  const [stamped] = mac.stamped(stream, [given], expected) as [NewEvent];
  return { ...stamped, stream, revision, position: '1' };
};

describe('the MAC of an event', () => {
  it('is HMAC-SHA-256 as the library makes it, of short and of long events', () => {
    const key = Buffer.from(hkdfSync('sha256', SECRET, '', 'agent-platform/event/mac/1', 32));
    for (const text of ['', 'a', 'ä€😀'.repeat(100), 'x'.repeat(5_300), 'x'.repeat(5_500), 'ß'.repeat(300_000)]) {
      const given = event({ data: JSON.stringify({ text }) });
      const over = `7 ${given.id} 6:note-15:Noted${given.data.length}:${given.data}${given.metadata}`;
      const expected = createHmac('sha256', key).update(over).digest('base64url').slice(0, 22);
      expect(stored('note-1', 6, 7, given).metadata).toBe(`{"actor":"user:u1","mac":"7.${expected}"}`);
    }
  });

  it('proves an event where it was appended, and gives the metadata back', () => {
    for (const metadata of ['{}', '{"actor":"user:u1"}', '{"mac":"mine"}']) {
      const proven = stored('note-1', 6, 7, event({ metadata }));
      expect(mac.check(proven)).toBe('proven');
      expect(withoutMac(proven.metadata)).toBe(metadata);
    }
    expect(mac.check(stored('note-1', 'noStream', 0))).toBe('proven');
  });

  it.each<[string, Partial<StoredEvent>]>([
    ['stream', { stream: 'note-2' }],
    ['revision', { revision: 8 }],
    ['id', { id: randomUUID() }],
    ['type', { type: 'Note' }],
    ['data', { data: '{"text":"b"}' }],
  ])('does not prove another %s', (_what, change) => {
    expect(mac.check({ ...stored('note-1', 6, 7), ...change })).toBe('wrong');
  });

  it('does not prove other metadata, another place in them, another key, or nothing', () => {
    const proven = stored('note-1', 6, 7);
    expect(mac.check({ ...proven, metadata: proven.metadata.replace('u1', 'u2') })).toBe('wrong');
    expect(mac.check({ ...proven, revision: 8, metadata: proven.metadata.replace('"7.', '"8.') })).toBe('wrong');
    expect(mac.check({ ...proven, revision: 8, metadata: proven.metadata.replace('"7.', '"any.') })).toBe('wrong');
    expect(eventMacOf(`${SECRET}.`).check(proven)).toBe('wrong');
    expect(mac.check({ ...proven, metadata: `${proven.metadata} ` })).toBe('absent');
    expect(mac.check({ ...proven, metadata: '{"actor":"user:u1"}' })).toBe('absent');
    // Parts cannot lend each other characters.
    expect(
      mac.check({ ...stored('note-1', 6, 7, event({ type: 'No', data: 'ted{}' })), type: 'Noted', data: '{}' }),
    ).toBe('wrong');
  });

  it('says where the append did not know the revision', () => {
    expect(mac.check(stored('note-1', 'any', 3))).toBe('unplaced');
    expect(mac.check(stored('note-1', 'noStream', 3))).toBe('unplaced');
    const second = mac.stamped('note-1', [event(), event()], 'noStream')[1] as NewEvent;
    expect(mac.check({ ...second, stream: 'note-1', revision: 1 })).toBe('proven');
    expect(mac.check({ ...second, stream: 'note-1', revision: 0 })).toBe('wrong');
  });

  it('is on every append to a log, the same for a repeat', async () => {
    const log = new MemoryLog();
    stampAppends(log, mac);
    const events = [event(), event()];
    await log.append('note-1', events, 'noStream');
    await log.append('note-1', events, 'noStream');
    await log.append('note-1', [event()], 1);
    expect((await log.readStream('note-1')).map((read) => mac.check(read))).toEqual(['proven', 'proven', 'proven']);
    await expect(log.append('note-1', [event({ metadata: 'none' })], 2)).rejects.toThrow(InvalidAppend);
  });
});
