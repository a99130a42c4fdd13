import { EventCodec, type Keyring } from '@app/kernel';
import { z } from 'zod';
import {
  closed,
  counted,
  counterCatalogue,
  memoryProjecting,
  opened,
  stored,
} from '../../../../test/fixtures/counters';
import { until } from '../../../../test/fixtures/until';
import type { RowProjection } from '../projection';

const LONG = 10_000;

/** One row an event, made of where it stands alone. */
const places: RowProjection = {
  kind: 'rows',
  name: 'places',
  version: 1,
  types: ['CounterOpened', 'Counted', 'CounterClosed', 'Unknown'],
  contextOnly: true,
  row: z.strictObject({ type: z.string(), fields: z.number() }),
  indexes: [],
  apply: ({ type, data, context }) => [
    { op: 'put', key: context.position, row: { type, fields: Object.keys(data).length } },
  ],
};
const unreadable = [
  ['data of another shape', stored('Counted', { by: 'many' })],
  ['data that are none', { ...counted(), data: '' }],
  ['a type that nobody heard of', stored('Unknown', {})],
  ['a newer schema', { ...counted(), metadata: counted().metadata.replace('"schema":"1"', '"schema":"7"') }],
] as const;
/** Whoever asks for a key fails. */
const noKeyring: Keyring = {
  ensureKey: () => Promise.reject(new Error('no keys')),
  keys: () => Promise.reject(new Error('no keys')),
};

describe('a view of nothing but where events stand', () => {
  it.each(unreadable)('shows an event with %s, and what follows it in its stream', async (_, event) => {
    const { log, readStore, projecting } = memoryProjecting({
      projections: [places],
      codec: new EventCodec(counterCatalogue, noKeyring),
    });
    await projecting.start();
    const { position } = await log.append('counter-a', [opened('a'), event, closed()], 'noStream');
    expect(await projecting.waitFor('places', position, LONG)).toBe(true);
    expect((await readStore.scan('places', 1, null, 10)).map(({ row }) => row)).toEqual(
      ['CounterOpened', event.type, 'CounterClosed'].map((type) => ({ type, fields: 0 })),
    );
    expect(await projecting.deadLetters()).toEqual([]);
    await projecting.stop();
  });

  it('is rebuilt over them, and equal', async () => {
    const { log, projecting } = memoryProjecting({ projections: [places] });
    await projecting.start();
    const { position } = await log.append(
      'counter-a',
      [opened('a'), ...unreadable.map(([, event]) => event)],
      'noStream',
    );
    await projecting.waitFor('places', position, LONG);
    await projecting.rebuild('places').start({ swap: true });
    await until(async () => (await projecting.rebuild('places').status())?.state === 'swapped', 'the swap');
    expect((await projecting.rebuild('places').status())?.verification).toMatchObject({ equal: true, rows: 5 });
    await projecting.stop();
  });

  it('flows again where an earlier version had parked an event for its data', async () => {
    const { contextOnly: _, ...whole } = places;
    const first = memoryProjecting({ projections: [whole] });
    await first.projecting.start();
    const { position } = await first.log.append(
      'counter-a',
      [opened('a'), stored('Counted', { by: 'many' }), closed()],
      'noStream',
    );
    await first.projecting.waitFor('places', position, LONG);
    expect(await first.projecting.deadLetters()).toHaveLength(1);
    await first.projecting.stop();

    const { projecting, readStore } = memoryProjecting({
      log: first.log,
      readStore: first.readStore,
      projections: [places],
    });
    await projecting.start();
    const [letter] = await projecting.deadLetters();
    expect(await projecting.retryDeadLetter(letter?.id ?? '')).toBeUndefined();
    expect(await readStore.count('places', {})).toBe(3);
    await projecting.stop();
  });
});
