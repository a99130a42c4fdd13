import type { Decisions } from '@app/kernel';
import { SyncedDocuments } from './synced-documents';

const file = { agentId: '01900000-0000-7000-8000-000000000001', sourceId: 's', path: 'a.md' };

/** Of all decisions none but `load` is asked for. */
const syncedOver = (load: (decider: unknown, id: string) => Promise<object>): SyncedDocuments =>
  new SyncedDocuments({ load } as Decisions);

/** So many documents under the path were deleted. */
const after = async (deleted: number) => {
  const gone = new Set<string>();
  let asked = 0;
  const load = async (_: unknown, id: string) => {
    asked += 1;
    return { state: { status: gone.has(id) ? 'Deleted' : 'Absent' } };
  };
  const synced = syncedOver(load);
  for (let time = 0; time < deleted; time += 1) gone.add(await synced.idOf(file));
  asked = 0;
  const id = await synced.idOf(file);
  return { id, gone, asked };
};

it.each([0, 1, 2, 3, 4, 7, 8, 50])(
  'behind %d deletions the file is the next document, found in few steps',
  async (deleted) => {
    const { id, gone, asked } = await after(deleted);
    expect([gone.size, gone.has(id)]).toEqual([deleted, false]);
    expect(asked).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(deleted + 2)) + 1);
  },
);

it('follows from Agent, source and path, composed or decomposed, and from nothing else', async () => {
  const synced = syncedOver(async () => ({ state: { status: 'Absent' } }));
  const ids = await Promise.all(
    [
      file,
      { ...file, path: 'b.md' },
      { ...file, sourceId: 't' },
      { ...file, agentId: '01900000-0000-7000-8000-000000000002' },
      { ...file, path: 'A.md' },
      { ...file, path: '\u00fc' },
    ].map((each) => synced.idOf(each)),
  );
  expect(new Set(ids).size).toBe(6);
  expect(await synced.idOf({ ...file, path: 'u\u0308' })).toBe(ids[5]);
});
