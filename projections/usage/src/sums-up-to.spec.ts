import type { DeadLetter } from '@app/projecting';
import { sumsUpTo } from './recorded-spending';

/** Views of which these are late, and those lack a record. */
const views = (late: readonly string[], lacking: readonly string[]) => ({
  waitFor: async (name: string) => !late.includes(name),
  deadLetters: async () => lacking.map((name) => ({ name }) as DeadLetter),
});
const given = async (late: readonly string[], lacking: readonly string[]): Promise<readonly string[]> =>
  (await sumsUpTo(views(late, lacking), '10')).map(({ view }) => view);

describe('sums of calls', () => {
  it('are taken from both views, the longest spans first', async () =>
    expect(await given(['messages'], ['invocations'])).toEqual(['usage-days', 'usage']));
  it.each(['usage', 'usage-days'])('are left alone while the view %s is late', async (view) =>
    expect(await given([view], [])).toEqual([]),
  );
  it.each(['usage', 'usage-days'])('are left alone while the view %s lacks a record', async (view) =>
    expect(await given([], [view])).toEqual([]),
  );
});
