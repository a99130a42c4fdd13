import type { FindOptions, StoredRow } from '@app/read-store';
import { CompleteViews } from './complete-views';
import type { Gap } from './gap';

const rows = Array.from({ length: 2_500 }, (_, n): StoredRow => ({
  key: `k${n}`,
  position: '1',
  row: { createdAt: String(n).padStart(4, '0') },
  size: 30,
}));
const store = {
  find: async (_view: string, { after, limit }: FindOptions) => {
    const from = after === undefined ? 0 : rows.findIndex(({ key }) => key === after.key) + 1;
    return rows.slice(from, from + limit);
  },
};
const keys = (gap: Gap | undefined) =>
  new CompleteViews({ gap: async () => gap }, store).keys(
    'documents',
    { spaceId: 's1' },
    [{ field: 'createdAt', order: 'asc' }],
    '7',
  );

describe('rows that a policy must not miss', () => {
  it('are all there', async () => expect(await keys(undefined)).toEqual(rows.map(({ key }) => key)));

  it('are asked for again where the view shows them later', async () => {
    await expect(keys({ reason: 'it is behind the log', passes: true })).rejects.toMatchObject({
      name: 'Unavailable',
      message: 'the view documents is unavailable: it is behind the log',
    });
  });

  it('hold the policy back where dead letters must be solved first', async () => {
    await expect(
      keys({ reason: 'it has dead letters (2): retry or discard them first', passes: false }),
    ).rejects.toMatchObject({
      name: 'Error',
      message:
        'the view documents is incomplete: it has dead letters (2): retry or discard them first, then retry this',
    });
  });
});

describe('a view that a decision rests on', () => {
  const caughtUp = (gap: Gap | undefined) =>
    new CompleteViews({ gap: async () => gap }, store).caughtUp('memories', '7');

  it('is enough where only dead letters are missing', async () => {
    await expect(caughtUp(undefined)).resolves.toBeUndefined();
    await expect(caughtUp({ reason: 'it has dead letters (2)', passes: false })).resolves.toBeUndefined();
  });

  it('is not where it is late', async () => {
    await expect(caughtUp({ reason: 'it is behind the log', passes: true })).rejects.toMatchObject({
      name: 'Unavailable',
      message: 'the view memories is unavailable: it is behind the log',
    });
  });
});

describe('a view that is shown as it is', () => {
  const awaited = (gap: Gap | undefined) => new CompleteViews({ gap: async () => gap }, store).awaited('memories', '7');

  it('tells whether anything may be missing', async () => {
    expect(await awaited(undefined)).toBe(true);
    expect(await awaited({ reason: 'it is behind the log', passes: true })).toBe(false);
    expect(await awaited({ reason: 'it has dead letters (2)', passes: false })).toBe(false);
  });
});
