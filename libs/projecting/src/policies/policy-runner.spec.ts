import {
  type DataKey,
  defineEvent,
  ERASED,
  EventCatalogue,
  EventCodec,
  systemClock,
  type RecordedEvent,
  sensitive,
} from '@app/kernel';
import { type Policy, policyEvents } from '@app/projecting';
import { z } from 'zod';
import { MemoryLogger } from '../../../../test/fixtures/counters';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { until } from '../../../../test/fixtures/until';
import { ProjectingEvents } from '../events';
import { PolicyRunner } from './policy-runner';

const NoteWritten = defineEvent({
  type: 'NoteWritten',
  description: 'A note was written.',
  data: z.strictObject({ text: sensitive(z.string()), place: z.string() }),
});
const meta = { commandId: 'c', correlationId: 'c', actor: 'system:test', now: new Date(0) };

/** What a policy is given of a note, and for which streams keys were asked. */
const given = async (more: Pick<Policy, 'readsContent'>) => {
  const asked: string[] = [];
  const key: DataKey = Buffer.alloc(32, 1);
  const keys = async (streams: readonly string[]) => {
    asked.push(...streams);
    return new Map(streams.map((stream) => [stream, key]));
  };
  const codec = new EventCodec(new EventCatalogue([NoteWritten, ...policyEvents]), {
    ensureKey: async () => key,
    keys,
  });
  const log = new MemoryLog();
  const written = { type: 'NoteWritten', data: { text: 'secret', place: 'p' } };
  await log.append('note-a', await codec.encode('note-a', [written], meta, {}), 'noStream');
  asked.length = 0;
  const seen: RecordedEvent[] = [];
  const policy = {
    name: 'reading',
    types: ['NoteWritten'],
    ...more,
    react: async (event: RecordedEvent) => void seen.push(event),
  };
  const runner = await PolicyRunner.start({
    policy,
    log,
    codec,
    clock: systemClock,
    logger: new MemoryLogger(),
    events: new ProjectingEvents(),
    onFenced: () => undefined,
  });
  await until(() => seen.length > 0);
  await runner.stop();
  return { data: seen[0]?.data, asked };
};

describe('a policy', () => {
  it('is given an event without its content, which nobody decrypts', async () =>
    expect(await given({})).toEqual({ data: { text: ERASED, place: 'p' }, asked: [] }));

  it('is given the content that it reads', async () =>
    expect(await given({ readsContent: true })).toEqual({ data: { text: 'secret', place: 'p' }, asked: ['note-a'] }));
});
