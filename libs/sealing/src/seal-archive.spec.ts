import type { ReadStreamOptions, StoredEvent } from '@app/kernel';
import { SEAL_STREAM } from './event-hash';
import { SealArchive } from './seal-archive';

const SEALS = 5_000;

/** A log of so many seals, each over one event. */
const sealAt = (revision: number): StoredEvent => ({
  id: `seal-${revision}`,
  stream: SEAL_STREAM,
  revision,
  position: String(revision).padStart(16, '0'),
  type: 'LogSealed',
  data: JSON.stringify({
    fromOrdinal: revision + 1,
    ordinal: revision + 1,
    root: 'a'.repeat(64),
    previous: '0'.repeat(64),
    keyId: 'b'.repeat(16),
    at: '2026-01-01T00:00:00.000Z',
    signature: 'c'.repeat(86),
    events: [`event-${revision} 0 ${'d'.repeat(64)} note-1`],
  }),
  metadata: '{}',
});

describe('the archive of seals', () => {
  it('looks for an id alone among the last seals, however many there are', async () => {
    let reads = 0;
    const readStream = async (_stream: string, { from, direction }: ReadStreamOptions = {}) => {
      reads += 1;
      return [sealAt(direction === 'backwards' ? SEALS - 1 : (from ?? 0))];
    };
    const archive = new SealArchive({ readStream });
    expect((await archive.overId('event-4990'))?.revision).toBe(4_990);
    expect((await archive.overId('event-4001'))?.revision).toBe(4_001);
    reads = 0;
    expect(await archive.overId('event-3000')).toBeUndefined();
    expect(await archive.overId('no-event')).toBeUndefined();
    expect(reads).toBeLessThanOrEqual(2 * 1_001);
  });
});
