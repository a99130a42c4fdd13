import { coalesced } from '.';

describe('a coalesced question', () => {
  it('is asked once for all who come before its answer, and again after', async () => {
    let asked = 0;
    const ask = coalesced(async () => (asked += 1));
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([1, 1, 1]);
    expect(await ask()).toBe(2);
  });

  it('fails for all who asked, and not for those who come later', async () => {
    let fails = true;
    const ask = coalesced(async () => {
      if (fails) throw new Error('away');
      return 'here';
    });
    const both = await Promise.allSettled([ask(), ask()]);
    fails = false;
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await ask()).toBe('here');
  });
});
