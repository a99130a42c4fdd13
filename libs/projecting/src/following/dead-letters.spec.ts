import { Unavailable } from '@app/kernel';
import { counted, counters, memoryProjecting, opened, stored } from '../../../../test/fixtures/counters';

const LONG = 10_000;

const running = async () => {
  const all = memoryProjecting();
  await all.projecting.start();
  const append = async (stream: string, ...events: ReturnType<typeof counted>[]) => {
    const { position } = await all.log.append(stream, events, 'any');
    await all.projecting.waitFor('counters', position, LONG);
  };
  const count = async (stream: string) => (await all.readStore.get('counters', stream))?.row['count'];
  return { ...all, append, count };
};

describe('dead letters', () => {
  it('park the stream of an event that fails, while all others flow', async () => {
    const { projecting, append, count, logger } = await running();
    await append('counter-a', opened('a'), counted(1), counted(13), counted(2));
    await append('counter-b', opened('b'), counted(5));
    await append('counter-a', counted(3));
    expect(await count('counter-b')).toBe(5);
    expect(await count('counter-a')).toBe(1);
    expect(await projecting.deadLetters()).toMatchObject([
      {
        source: 'projection',
        name: 'counters',
        stream: 'counter-a',
        revision: 2,
        type: 'Counted',
        reason: 'apply',
        attempts: 1,
      },
    ]);
    expect(JSON.stringify([await projecting.deadLetters(), logger.lines])).not.toContain('secret content');
    await projecting.stop();
  });

  it.each([
    ['schema', stored('Counted', { by: 'many' })],
    ['unknown_type', stored('Unknown', {})],
    ['newer_schema', { ...counted(), metadata: JSON.stringify({ schema: '7' }) }],
  ])('say that the reason is %s', async (reason, event) => {
    const { projecting, append } = await running();
    await append('counter-a', opened('a'), event);
    expect(await projecting.deadLetters()).toMatchObject([{ reason, revision: 1 }]);
    await projecting.stop();
  });

  it('hold the one event of a page that the store rejects', async () => {
    const { projecting, append, count, log } = await running();
    log.deliver = () => Promise.reject(new Unavailable('log', 'held back'));
    for (let index = 0; index < 20; index += 1)
      await log.append(`counter-${index}`, [opened(index === 7 ? 'name-3' : `name-${index}`), counted(1)], 'noStream');
    log.deliver = (events, upTo, hand) => hand(events, upTo);
    await append('counter-x', opened('x'));
    expect(await projecting.deadLetters()).toMatchObject([
      { stream: 'counter-7', reason: 'sink', detail: 'repeats a value of the unique index by-name' },
    ]);
    expect(await count('counter-6')).toBe(1);
    expect(await count('counter-19')).toBe(1);
    await projecting.stop();
  });

  it('survive a restart', async () => {
    const first = await running();
    await first.append('counter-a', opened('a'), counted(13));
    await first.projecting.stop();
    const second = memoryProjecting({ log: first.log, readStore: first.readStore });
    await second.projecting.start();
    const { position } = await second.log.append('counter-a', [counted(4)], 'any');
    await second.projecting.waitFor('counters', position, LONG);
    expect(await second.projecting.deadLetters()).toHaveLength(1);
    expect((await second.readStore.get('counters', 'counter-a'))?.row['count']).toBe(0);
    await second.projecting.stop();
  });

  it('replay the stream in order when retried after a repair', async () => {
    const first = await running();
    await first.append('counter-a', opened('a'), counted(13), counted(2));
    await first.projecting.stop();
    const repaired = {
      ...counters,
      apply: (event: Parameters<typeof counters.apply>[0]) =>
        counters.apply(event.data['by'] === 13 ? { ...event, data: { by: 100 } } : event),
    };
    const second = memoryProjecting({ log: first.log, readStore: first.readStore, projections: [repaired] });
    await second.projecting.start();
    const [letter] = await second.projecting.deadLetters();
    expect(await second.projecting.retryDeadLetter(letter?.id ?? '')).toBeUndefined();
    expect((await second.readStore.get('counters', 'counter-a'))?.row['count']).toBe(102);
    const { position } = await second.log.append('counter-a', [counted(1)], 'any');
    await second.projecting.waitFor('counters', position, LONG);
    expect((await second.readStore.get('counters', 'counter-a'))?.row['count']).toBe(103);
    expect(await second.projecting.deadLetters()).toEqual([]);
    await second.projecting.stop();
  });

  it('stand at the next failure when a retry gets further', async () => {
    const { projecting, append, count } = await running();
    await append('counter-a', opened('a'), counted(13), counted(2), counted(13), counted(3));
    const [letter] = await projecting.deadLetters();
    expect(await projecting.retryDeadLetter(letter?.id ?? '')).toMatchObject({ revision: 1, attempts: 2 });
    const left = await projecting.discardDeadLetter(letter?.id ?? '');
    expect(left).toMatchObject({ revision: 3, attempts: 1 });
    expect(await count('counter-a')).toBe(2);
    expect(await projecting.discardDeadLetter(left?.id ?? '')).toBeUndefined();
    expect(await count('counter-a')).toBe(5);
    await projecting.stop();
  });

  it('are rejected when unknown', async () => {
    const { projecting } = await running();
    await expect(projecting.retryDeadLetter('none')).rejects.toMatchObject({ code: 'not_found' });
    await projecting.stop();
  });
});
