import { type StoredEvent, systemClock } from '@app/kernel';
import { counterCodec } from '../../../../test/fixtures/counters';
import { PageWriter } from '../following/page-writer';
import type { ViewStore } from '../views/view-store';
import { BuildParts } from './build-parts';

const MOST = 100;
const eventOf = (number: number, data: string): StoredEvent => ({
  id: `01900000-0000-7000-8000-${String(number).padStart(12, '0')}`,
  stream: 'counter-a',
  revision: number,
  position: String(number).padStart(16, '0'),
  type: 'Counted',
  data,
  metadata: '{}',
});
/** A batch over what it asks of a view, its store and the codec, and no more. */
const newBatch = async (contextOnly = false) => {
  const store = {
    name: 'counters',
    slices: 1,
    contextOnly,
    operations: () => [],
    checkpoint: async () => ({ position: null, handled: 0 }),
    letters: async () => [],
    commit: async () => undefined,
  } as unknown as ViewStore;
  const codec = { ...counterCodec, keysOf: async () => new Map(), decodeWith: () => ({}) };
  const writer = await PageWriter.open({
    store,
    version: 1,
    slice: 0,
    fence: 1,
    codec: codec as unknown as typeof counterCodec,
    clock: systemClock,
    skip: new Set(),
    onPoison: 'stop',
  });
  return { batch: new BuildParts(1, new Map([[0, writer]])).batch(MOST, async () => []), writer };
};

describe('what one commit of a build holds', () => {
  it('is as many events as the view takes', async () => {
    const { batch, writer } = await newBatch();
    await batch.add(Array.from({ length: 60 }, (_, index) => eventOf(index, '{}')));
    expect(batch.remaining).toBe(40);
    await batch.add(Array.from({ length: 60 }, (_, index) => eventOf(60 + index, '{}')));
    expect(batch.remaining).toBe(0);
    expect(batch.pages(null).get(writer)?.handled).toBe(120);
  });

  it('is fewer where they are large', async () => {
    const { batch } = await newBatch();
    const large = 'x'.repeat(1024 * 1024);
    for (let number = 0; number < 15; number += 1) await batch.add([eventOf(number, large)]);
    expect(batch.remaining).toBe(85);
    await batch.add([eventOf(15, large)]);
    expect(batch.remaining).toBe(0);
  });

  it('is not fewer where a view reads nothing of them but where they are from', async () => {
    const { batch } = await newBatch(true);
    await batch.add(Array.from({ length: 20 }, (_, index) => eventOf(index, 'x'.repeat(1024 * 1024))));
    expect(batch.remaining).toBe(80);
  });
});
