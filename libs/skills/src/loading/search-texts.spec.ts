import { matchesIn, wordsOf } from './search-texts';

const found = (query: string, ...texts: readonly string[]) =>
  matchesIn(
    texts.map((text, nth) => ({ path: `${nth}.md`, read: async () => text })),
    wordsOf(query),
  );
const lines = async (query: string, text: string) => (await found(query, text)).map(({ line }) => line);

describe('lines of the files of a Skill', () => {
  it('are found by words and their beginnings, those with rarer words first', async () => {
    const text = 'The backup runs.\nA backup of vaults.\nNothing.';
    expect([await lines('backup vault', text), await lines('ackup', text)]).toEqual([[2, 1], []]);
  });

  it.each([
    ['API', '第一行\n请使用API接口登录'],
    ['接口登录', '第一行\n请使用API接口登录'],
    ['データベース', '行\nそのデータベースを保存'],
    ['데이터베이스', '행\n그데이터베이스를 저장'],
  ])('are found by words inside of sentences without spaces: %s', async (query, text) =>
    expect(await lines(query, text)).toEqual([2]),
  );

  it('are found anywhere in a long line, with the piece that has the words', async () => {
    const long = `${'before '.repeat(300)}The limit is 500 euros.${' behind'.repeat(300)}`;
    const [hit, ...others] = await found('limit', 'Nothing.', `First.\n${long}\nLast.`);
    expect(others).toEqual([]);
    expect(hit).toMatchObject({ path: '1.md', line: 2, text: expect.stringContaining('The limit is 500 euros.') });
    expect(hit?.text.length).toBeLessThanOrEqual(500);
  });

  it('are found where a long line without spaces is cut, and no letter is cut', async () => {
    for (let before = 440; before < 520; before += 1) {
      const [hit] = await found('接口登录', `${'😀'.repeat(before)}接口登录${'😀'.repeat(600)}`);
      expect(hit?.text).toContain('接口登录');
      expect(hit?.text.isWellFormed()).toBe(true);
    }
  });

  it('are found in a file in which each of very many lines has a word, the rarest first', async () => {
    const many = 'common\n'.repeat(200_000);
    const hits = await found('common rare', many, `${many}a rare thing\n${many}`);
    expect(hits.length).toBe(20);
    expect(hits.slice(0, 2)).toEqual([
      { path: '1.md', line: 200_001, text: 'a rare thing' },
      { path: '0.md', line: 1, text: 'common' },
    ]);
  });
});
