import type { EventLog } from '@app/event-log';
import { aggregates } from '@app/hosting';
import { systemClock, TimeOrderedIds } from '@app/kernel';
import { MemoryLogger, stored } from '../../../test/fixtures/counters';
import { goldenData } from '../../../test/fixtures/golden-events';
import { MemoryLog } from '../../../test/fixtures/memory-log';
import { until } from '../../../test/fixtures/until';
import type { Message } from './message';
import { Relay } from './relay';

interface Brokers {
  readonly messages: Message[];
}
const relayTo = (brokers: Brokers, log: EventLog) =>
  new Relay({
    log,
    aggregates,
    publisher: {
      publish: async (messages) => void brokers.messages.push(...messages),
      health: async () => ({ ok: true }),
      close: async () => undefined,
    },
    clock: systemClock,
    logger: new MemoryLogger(),
    source: 'urn:test',
    topicPrefix: 'test.',
  }).start(() => undefined);

it('says nothing of a private conversation: neither that it began, nor what became of it, nor that it is gone', async () => {
  const log = new MemoryLog();
  const brokers: Brokers = { messages: [] };
  const ids = new TimeOrderedIds();
  const [open, closed] = [`conversation-${ids.next()}`, `conversation-${ids.next()}`];
  const begun = (kind: string) =>
    stored('ConversationStarted', { ...goldenData('ConversationStarted', 1), kind } as Record<string, unknown>);
  for (const [stream, kind] of [
    [open, 'normal'],
    [closed, 'private'],
  ] as const)
    await log.append(stream, [begun(kind), stored('ConversationArchived', {})], 'noStream');
  const run = await relayTo(brokers, log);
  await until(() => brokers.messages.length === 2);
  // Of a page that holds the beginning no longer, too, and after a restart.
  await log.append(closed, [stored('ConversationUnarchived', {})], 'any');
  await run.stop();
  const next = await relayTo(brokers, log);
  await log.append(closed, [stored('ConversationDeleted', goldenData('ConversationDeleted', 1))], 'any');
  await log.append(open, [stored('ConversationUnarchived', {})], 'any');
  await until(() => brokers.messages.length >= 3);
  await next.stop();
  expect(new Set(brokers.messages.map(({ key }) => key))).toEqual(new Set([open]));
  expect(JSON.stringify(brokers.messages)).not.toContain(closed.slice('conversation-'.length));
});
