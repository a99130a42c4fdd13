import type { EventLog } from '@app/event-log';
import type { FindOptions, ReadStore } from '@app/read-store';
import { AuditLog } from './audit-log';

describe('a page of the index of the log', () => {
  it('reads no more events than are asked for, and one to see whether more follow', async () => {
    const positions = Array.from({ length: 500 }, (_, n) => String(1_000 + n));
    const find = jest.fn(async (_view: string, { after, limit }: FindOptions) =>
      positions
        .filter((key) => after === undefined || key > after.key)
        .slice(0, limit)
        .map((key) => ({
          key,
          position: key,
          size: 100,
          row: {
            stream: `erasure-${key}`,
            revision: 0,
            type: 'ContentErased',
            actor: 'a',
            correlationId: 'c',
            recordedAt: 't',
          },
        })),
    );
    const readStream = jest.fn(async (stream: string) => [
      { id: stream, type: 'ContentErased', stream, revision: 0, position: stream.slice(8), data: '{}', metadata: '{}' },
    ]);
    const log = new AuditLog(
      { readStream } as Partial<EventLog> as EventLog,
      { find } as Partial<ReadStore> as ReadStore,
    );
    const first = await log.page({ type: 'ContentErased' }, { order: 'asc', after: null, limit: 3 });
    expect(first.events.map(({ position }) => position)).toEqual(['1000', '1001', '1002']);
    expect(readStream).toHaveBeenCalledTimes(4);
    const found: string[] = [];
    for (let after: string | null = null; ;) {
      const { events, next } = await log.page({ type: 'ContentErased' }, { order: 'asc', after, limit: 100 });
      found.push(...events.map(({ position }) => position));
      if (next === null) break;
      after = next;
    }
    expect(found).toEqual(positions);
  });
});
