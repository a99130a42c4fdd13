import type { MemoryRules } from '../lookups';
import type { MemoryScreener } from '../screened-texts';
import { Remembered, type SavedRow } from './remembered';

const row = (id: string, text: string, version = '1', kind: 'personal' | 'shared' = 'personal'): SavedRow => ({
  id,
  revision: 0,
  kind,
  text,
  updatedAt: `2026-01-0${id}`,
  screening: { version },
});

let screened: string[];
const open = (rows: readonly SavedRow[], rules: MemoryRules = { personal: 'on', shared: 'on' }, most = 800) => {
  screened = [];
  const rescreen: MemoryScreener['rescreen'] = (text) => {
    screened.push(text);
    return { canonical: text, verdict: text.includes('evil') ? 'flagged' : 'safe', rules: [], version: '2' };
  };
  const screener: MemoryScreener = { version: '2', rescreen, screen: async (text) => rescreen(text) };
  const asked: boolean[] = [];
  const saved = async (_agent: string, _user: string, withShared: boolean) => {
    asked.push(withShared);
    return rows;
  };
  return { asked, remembered: new Remembered(saved, async () => rules, screener, { MEMORY_CONTEXT_TOKENS: most }) };
};

describe('what an Agent remembers for an answer', () => {
  it('comes by rank, with what it takes in tokens', async () => {
    const { remembered } = open([row('1', 'Likes tea', '2'), row('2', 'Has two cats', '2')]);
    const found = await remembered.for('a1', 'u1', 'Which tea?');
    expect(found).toMatchObject([
      { memoryId: '2', rank: 1, text: 'Has two cats', revision: 0, kind: 'personal' },
      { memoryId: '1', rank: 2, text: 'Likes tea' },
    ]);
    expect(found?.map(({ tokens }) => tokens)).toEqual([3, 2]);
    expect(screened).toEqual([]);
  });

  it('leaves out what the rules of today flag, and screens it once', async () => {
    const { remembered } = open([
      row('1', 'An evil order'),
      row('2', 'Has two cats', '1+judge'),
      row('3', 'Likes tea', '2+judge'),
    ]);
    for (let n = 0; n < 3; n += 1)
      expect((await remembered.for('a1', 'u1', ''))?.map(({ memoryId }) => memoryId)).toEqual(['3', '2']);
    expect(screened.toSorted()).toEqual(['An evil order', 'Has two cats']);
  });

  it('is nothing where memory is off, and nothing that is shared where sharing is', async () => {
    const off = open([row('1', 'Likes tea')], { personal: 'off', shared: 'off' });
    expect(await off.remembered.for('a1', 'u1', '')).toBeUndefined();
    for (const shared of ['off', 'never'] as const) {
      const { asked, remembered } = open([], { personal: 'on', shared });
      expect(await remembered.for('a1', 'u1', '')).toEqual([]);
      expect(asked).toEqual([false]);
    }
  });

  it('is what fits where not all does, and leaves out what is erased', async () => {
    const { remembered } = open(
      [row('1', 'Likes tea', '2'), row('2', 'Has two cats', '2'), { ...row('3', ''), text: { erased: true } }],
      undefined,
      3,
    );
    expect((await remembered.for('a1', 'u1', 'tea'))?.map(({ memoryId }) => memoryId)).toEqual(['1']);
  });
});
