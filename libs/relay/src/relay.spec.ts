import type { EventLog } from '@app/event-log';
import { aggregates } from '@app/hosting';
import { systemClock, Unavailable } from '@app/kernel';
import type { DeadLetter } from '@app/projecting';
import { MemoryLogger, stored } from '../../../test/fixtures/counters';
import { goldenData } from '../../../test/fixtures/golden-events';
import { appendsWithin, LaggingLogs } from '../../../test/fixtures/lagging-logs';
import { MemoryLog } from '../../../test/fixtures/memory-log';
import { until } from '../../../test/fixtures/until';
import type { Message, Publisher } from './message';
import { Relay } from './relay';

/** Brokers in memory that can be away, or take a batch and lose the answer. */
class Brokers implements Publisher {
  readonly messages: Message[] = [];
  batches: number[] = [];
  away = false;
  losesAnswers = 0;
  tries = 0;

  async publish(messages: readonly Message[]): Promise<void> {
    this.tries += 1;
    if (this.away) throw new Unavailable('kafka', 'away');
    this.messages.push(...messages);
    this.batches.push(messages.length);
    if (this.losesAnswers-- > 0) throw new Unavailable('kafka', 'no answer', 'unknown');
  }

  health = async () => ({ ok: !this.away });
  close = async () => undefined;

  /** Sequence numbers of a stream as a consumer sees them, repeats left out. */
  sequence(stream: string): number[] {
    const seen = new Set<string>();
    const first = this.messages.filter(
      ({ key, headers }) =>
        key === stream && !seen.has(headers['ce_id'] as string) && seen.add(headers['ce_id'] as string),
    );
    return first.map(({ value }) => Number((JSON.parse(value) as { sequence: string }).sequence));
  }
}

const agent = (id: number): string => `agent-00000000-0000-7000-8000-${String(id).padStart(12, '0')}`;
const created = () => stored('AgentCreated', goldenData('AgentCreated', 1));
const changed = () => stored('AgentChanged', { model: 'another' });
const deleted = () => stored('AgentDeleted', { spaceId: '01990000-0000-7000-8000-000000000001' });
const newer = () => ({ ...changed(), metadata: JSON.stringify({ schema: '99' }) });

const relayOver = async (log: EventLog, brokers: Brokers, onFenced: () => void = () => undefined) => {
  const logger = new MemoryLogger();
  const relay = new Relay({
    log,
    aggregates,
    publisher: brokers,
    clock: systemClock,
    logger,
    source: 'urn:test',
    topicPrefix: 'test.',
  });
  return { relay, logger, run: await relay.start(onFenced) };
};

describe('The relay', () => {
  it('tells what happened as CloudEvents, with the stream as key and the id as header', async () => {
    const log = new MemoryLog();
    const brokers = new Brokers();
    const event = created();
    await log.append(agent(1), [event, changed()], 'noStream');
    const { run } = await relayOver(log, brokers);
    await until(() => brokers.messages.length === 2);
    await run.stop();
    const [{ topic, key, headers, value }] = brokers.messages as [Message];
    expect({ topic, key }).toEqual({ topic: 'test.agents', key: agent(1) });
    expect(headers).toEqual({
      'content-type': 'application/cloudevents+json; charset=UTF-8',
      ce_specversion: '1.0',
      ce_id: event.id,
      ce_type: 'agent-platform.agent.created.v1',
      ce_source: 'urn:test',
    });
    expect(JSON.parse(value)).toMatchObject({
      specversion: '1.0',
      id: event.id,
      source: 'urn:test',
      type: 'agent-platform.agent.created.v1',
      subject: agent(1),
      time: '2026-01-01T00:00:00.000Z',
      sequence: '0',
      datacontenttype: 'application/json',
      dataschema: 'urn:agent-platform:integration-event:agent.created:v1',
      data: { agentId: agent(1).slice('agent-'.length) },
    });
  });

  it('goes on behind its place, also in a log with other positions', async () => {
    const log = new MemoryLog();
    const brokers = new Brokers();
    const { run: first } = await relayOver(log, brokers);
    await log.append(agent(1), [created(), changed()], 'noStream');
    await until(() => brokers.messages.length === 2);
    await first.stop();
    expect(
      log.events.filter(({ stream }) => stream === 'policy-relay').map(({ data }) => JSON.parse(data) as object),
    ).toMatchObject([{ stream: agent(1), revision: 1 }]);
    const imported = new MemoryLog();
    await imported.append('before-1', [created()], 'any');
    imported.events.splice(0);
    for (const event of log.events) await imported.append(event.stream, [event], 'any');
    await imported.append(agent(1), [deleted()], 'any');
    const { run: second } = await relayOver(imported, brokers);
    await until(() => brokers.messages.length === 3);
    await second.stop();
    expect(brokers.sequence(agent(1))).toEqual([0, 1, 2]);
    expect(brokers.messages).toHaveLength(3);
  });

  it('keeps nothing but two batches in memory while the brokers are away, and sends all in order when they are back', async () => {
    const log = new MemoryLog();
    const brokers = new Brokers();
    brokers.away = true;
    for (let id = 0; id < 10; id += 1)
      await log.append(agent(id), [created(), ...Array.from({ length: 299 }, changed)], 'noStream');
    const reads: number[] = [];
    const deliver = log.deliver;
    log.deliver = (events, upTo, hand) => {
      reads.push(events.length);
      return deliver(events, upTo, hand);
    };
    const { relay, run } = await relayOver(log, brokers);
    await until(() => brokers.tries >= 3);
    expect(reads).toEqual([500, 500]);
    expect(run.position).toBeNull();
    expect(run.failure).toMatchObject({ stream: agent(0), type: 'AgentCreated', detail: 'away' });
    expect(await relay.health()).toEqual({ ok: false });
    brokers.away = false;
    await until(() => brokers.messages.length === 3_000);
    for (let id = 0; id < 10; id += 1)
      expect(brokers.sequence(agent(id))).toEqual(Array.from({ length: 300 }, (_, index) => index));
    await until(() => relay.counts.published === 3_000);
    expect(run.failure).toBeUndefined();
    await run.stop();
  });

  it('sends a batch again when its answer was lost: at least once, in order', async () => {
    const log = new MemoryLog();
    const brokers = new Brokers();
    brokers.losesAnswers = 2;
    await log.append(agent(1), [created(), changed(), deleted()], 'noStream');
    const { relay, run } = await relayOver(log, brokers);
    await until(() => relay.counts.published === 3);
    await run.stop();
    expect(brokers.messages).toHaveLength(9);
    expect(brokers.sequence(agent(1))).toEqual([0, 1, 2]);
    expect(relay.counts).toEqual({ published: 3, failures: 2 });
  });

  it('stops while the brokers are away, and forgets nothing by it', async () => {
    const log = new MemoryLog();
    const brokers = new Brokers();
    brokers.away = true;
    await log.append(agent(1), [created(), changed()], 'noStream');
    const { run: first } = await relayOver(log, brokers);
    await until(() => brokers.tries >= 1);
    await first.stop();
    expect(log.events.some(({ stream }) => stream === 'policy-relay')).toBe(false);
    brokers.away = false;
    const { run: second } = await relayOver(log, brokers);
    await until(() => brokers.messages.length === 2);
    await second.stop();
  });

  it('stops when another process has recorded a place', async () => {
    const log = new MemoryLog();
    const brokers = new Brokers();
    let fenced = 0;
    const { run } = await relayOver(log, brokers, () => (fenced += 1));
    await log.append(
      'policy-relay',
      [stored('PolicyAdvanced', { eventId: created().id, stream: agent(9), revision: 0, position: '0' })],
      'noStream',
    );
    await log.append(agent(1), [created()], 'noStream');
    await until(() => fenced === 1);
    await log.append(agent(2), [created()], 'noStream');
    await run.stop();
    expect(brokers.sequence(agent(2))).toEqual([]);
    expect(fenced).toBe(1);
  });

  it('stops when another process has recorded a place, once that is shown, and does not ask for it again and again', async () => {
    const both = await LaggingLogs.open();
    const [log, other] = both.logs as [EventLog, EventLog];
    const brokers = new Brokers();
    const appended = appendsWithin(log);
    let fenced = 0;
    const { run } = await relayOver(log, brokers, () => (fenced += 1));
    await other.append(agent(1), [created()], 'noStream');
    await until(() => brokers.messages.length === 1);
    both.hide();
    const recorded = other.append(
      'policy-relay',
      [stored('PolicyAdvanced', { eventId: created().id, stream: agent(9), revision: 0, position: '0' })],
      'noStream',
    );
    await until(() => appended.mock.calls.length === 1);
    await expect(appended.mock.results[0]?.value).rejects.toMatchObject({ name: 'Unavailable', outcome: 'unknown' });
    both.show();
    await recorded.catch(() => undefined);
    await until(() => fenced === 1);
    expect(appended.mock.calls.length).toBeLessThanOrEqual(3);
    await run.stop();
    expect(fenced).toBe(1);
    await both.close();
  });

  it('parks a stream with an event that it cannot read while others flow, and sends what waits once that is settled', async () => {
    const log = new MemoryLog();
    const brokers = new Brokers();
    const { run } = await relayOver(log, brokers);
    await log.append(agent(1), [created(), newer(), deleted()], 'noStream');
    await log.append(agent(2), [created()], 'noStream');
    await until(() => brokers.sequence(agent(2)).length === 1);
    expect(brokers.sequence(agent(1))).toEqual([0]);
    const [letter] = run.letters as [DeadLetter];
    expect(letter).toMatchObject({
      source: 'policy',
      name: 'relay',
      stream: agent(1),
      revision: 1,
      reason: 'newer_schema',
      attempts: 1,
    });
    await run.stop();

    const { run: again } = await relayOver(log, brokers);
    expect(again.letters).toMatchObject([{ eventId: letter.eventId }]);
    expect(await again.replay(letter, { discard: false })).toMatchObject({ attempts: 2 });
    brokers.away = true;
    await expect(again.replay(letter, { discard: true })).rejects.toMatchObject({ name: 'Unavailable' });
    brokers.away = false;
    expect(await again.replay(letter, { discard: true })).toBeUndefined();
    expect(brokers.sequence(agent(1))).toEqual([0, 2]);
    await log.append(agent(1), [deleted()], 'any');
    await until(() => brokers.sequence(agent(1)).length === 3);
    await again.stop();
  });

  it('loses nothing before an event that it cannot read when it is stopped in between', async () => {
    const log = new MemoryLog();
    const brokers = new Brokers();
    brokers.away = true;
    await log.append(agent(1), [created(), newer(), deleted()], 'noStream');
    const { run: first } = await relayOver(log, brokers);
    await until(() => brokers.tries > 0);
    await first.stop();
    expect(log.events.some(({ stream }) => stream === 'policyLetters-relay')).toBe(false);
    brokers.away = false;

    const { run: second } = await relayOver(log, brokers);
    await until(() => second.letters.length === 1);
    await second.stop();
    // As if it had died between the dead letter and its place: the page is read again.
    await log.delete('policy-relay');
    const { run: third } = await relayOver(log, brokers);
    await until(() => brokers.messages.length === 2);
    await third.stop();
    expect(brokers.messages.map(({ value }) => (JSON.parse(value) as { sequence: string }).sequence)).toEqual([
      '0',
      '0',
    ]);
  });

  it('lets an operator know at once that brokers are away', async () => {
    const log = new MemoryLog();
    const brokers = new Brokers();
    await log.append(agent(1), [newer()], 'noStream');
    const { run } = await relayOver(log, brokers);
    await until(() => run.letters.length === 1);
    brokers.away = true;
    for (let id = 2; id < 5; id += 1) await log.append(agent(id), Array.from({ length: 500 }, changed), 'noStream');
    await until(() => run.failure !== undefined);
    await expect(run.replay(run.letters[0] as DeadLetter, { discard: true })).rejects.toMatchObject({
      name: 'Unavailable',
      reason: 'away',
    });
    await run.stop();
  });
});
