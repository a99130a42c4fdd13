import type { ClientSession, mongo } from 'mongoose';
import type { RowDocument } from './documents';
import { writeRows } from './row-writes';

describe('rows of a batch', () => {
  it('are removed by as many commands as their keys need, each once', async () => {
    const commands: (readonly string[])[] = [];
    const collection = {
      deleteMany: async (filter: { readonly _id: { readonly $in: readonly string[] } }) =>
        commands.push(filter._id.$in),
    };
    const keys = Array.from({ length: 25_000 }, (_, index) => `row-${index}`);
    await writeRows(
      // Of a collection, a batch that only removes rows calls `deleteMany` alone.
      collection as unknown as mongo.Collection<RowDocument>,
      {} as Parameters<typeof writeRows>[1],
      false,
      keys.map((key) => ({ key, position: '1', row: null, existed: true })),
      'commit',
      {} as ClientSession,
    );
    expect(commands.map(({ length }) => length)).toEqual([10_000, 10_000, 5_000]);
    expect(commands.flat()).toEqual(keys);
  });
});
