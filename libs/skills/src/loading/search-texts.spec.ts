import { matchesIn, wordsOf } from './search-texts';

const lines = async (query: string, text: string) => {
  async function* texts() {
    yield { path: 'a.md', text };
  }
  return (await matchesIn(texts(), wordsOf(query))).map(({ line }) => line);
};

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
});
