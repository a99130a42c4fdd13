import { syncPlan } from './sync-plan';

const file = (path: string, contentHash = 'h') => ({ path, contentHash });
const document = (path: string, contentHash = 'h') => ({ documentId: `d-${path}`, path, contentHash });
const many = (count: number) => Array.from({ length: count }, (_, index) => document(`${index}`));

it('uploads what is new, replaces what is other, and deletes what is gone', () =>
  expect(
    syncPlan(
      [file('same'), file('other', 'h2'), file('new')],
      [document('same'), document('other'), document('gone')],
      false,
    ),
  ).toEqual({ upload: ['new'], replace: ['other'], vanished: [document('gone')], withheld: [] }));

it('knows a name whichever way it is composed', () =>
  expect(syncPlan([file('u\u0308.md')], [document('\u00fc.md')], false)).toEqual({
    upload: [],
    replace: [],
    vanished: [],
    withheld: [],
  }));

it.each([
  [10, 10, false],
  [11, 11, true],
  [11, 110, false],
  [11, 109, true],
  [1_000, 10_001, false],
  [1_001, 10_000, true],
])('%d of %d documents gone are withheld: %s', (gone, of, isWithheld) => {
  const documents = many(of);
  const files = documents.slice(gone).map(({ path }) => file(path));
  const { vanished, withheld } = syncPlan(files, documents, false);
  expect([vanished.length, withheld.length]).toEqual(isWithheld ? [0, gone] : [gone, 0]);
  expect(syncPlan(files, documents, true).vanished.length).toBe(gone);
});

it('deletes what was confirmed by its path, however it is composed, and withholds all else', () =>
  expect(
    syncPlan(
      [file('same')],
      [document('same'), document('\u00fc.md'), document('since')],
      ['same', 'u\u0308.md', 'gone'],
    ),
  ).toEqual({
    upload: [],
    replace: [],
    vanished: [document('\u00fc.md')],
    withheld: [document('since')],
  }));

it('withholds nothing but what is gone where paths are confirmed of which none is', () => {
  const nothing = { upload: [], replace: [], vanished: [], withheld: [] };
  expect(syncPlan([file('a')], [document('a')], ['a'])).toEqual(nothing);
  expect(syncPlan([], many(1), [])).toEqual({ ...nothing, withheld: many(1) });
});
