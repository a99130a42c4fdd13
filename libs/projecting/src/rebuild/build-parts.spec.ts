import type { StoredEvent } from '@app/kernel';
import type { PageWriter } from '../following/page-writer';
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
/** What a batch asks of a writer, and no more. */
const writer = {
  checkpoint: { position: null, handled: 0 },
  fold: async (events: readonly StoredEvent[]) => ({
    changes: events.map(({ position }) => ({ position, operations: [] })),
  }),
} as unknown as PageWriter;
const newBatch = () => new BuildParts(1, new Map([[0, writer]])).batch(MOST, async () => []);

describe('what one commit of a build holds', () => {
  it('is as many events as the view takes', async () => {
    const batch = newBatch();
    await batch.add(Array.from({ length: 60 }, (_, index) => eventOf(index, '{}')));
    expect(batch.room).toBe(40);
    await batch.add(Array.from({ length: 60 }, (_, index) => eventOf(60 + index, '{}')));
    expect(batch.room).toBe(0);
    expect(batch.pages(null).get(writer)?.handled).toBe(120);
  });

  it('is fewer where they are large', async () => {
    const batch = newBatch();
    const large = 'x'.repeat(1024 * 1024);
    for (let number = 0; number < 15; number += 1) await batch.add([eventOf(number, large)]);
    expect(batch.room).toBe(85);
    await batch.add([eventOf(15, large)]);
    expect(batch.room).toBe(0);
  });
});
