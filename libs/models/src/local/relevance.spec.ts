import fc from 'fast-check';
import { Relevance, relevancesAtOnce, relevancesOf } from './relevance';
import { termsOf } from './terms';

/** The formula, term by term. */
const formula = (question: string, texts: readonly string[]): readonly number[] => {
  const sets = texts.map((text) => new Set(termsOf(text)));
  const weights = [...new Set(termsOf(question))].map((term) => {
    const holding = sets.filter((terms) => terms.has(term)).length;
    return [term, Math.log(1 + (texts.length - holding + 0.5) / (holding + 0.5))] as const;
  });
  const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
  return sets.map((terms) =>
    total === 0 ? 0 : weights.reduce((sum, [term, weight]) => (terms.has(term) ? sum + weight : sum), 0) / total,
  );
};
const names = (count: number, first = 0): string =>
  Array.from({ length: count }, (_, index) => `name${first + index}`).join(' ');

/** From now on every step takes as long as a turn may. */
const slowly = (): void => {
  let now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => (now += 10));
};
/** Turns of the event loop until the promise is settled. */
const turnsUntil = async (settled: Promise<unknown>): Promise<number> => {
  let turns = 0;
  let over = false;
  const turn = (): void => {
    turns += 1;
    if (!over) setImmediate(turn);
  };
  setImmediate(turn);
  // Whoever asks looks at how it ended.
  await Promise.allSettled([settled]);
  over = true;
  return turns;
};
afterEach(() => jest.restoreAllMocks());

describe('relevance', () => {
  it('is what the formula says, to the last digit, in one go or in turns', async () => {
    const word = fc.constantFrom('key', 'keys', 'vault', 'nightly', 'the', 'backups', 'sealed', 'topK', '日本');
    const text = fc.array(word, { maxLength: 8 }).map((words) => words.join(' '));
    await fc.assert(
      fc.asyncProperty(text, fc.array(text, { maxLength: 6 }), async (question, texts) => {
        const expected = formula(question, texts);
        expect(await relevancesOf(question, texts)).toEqual(expected);
        expect(relevancesAtOnce(question, texts)).toEqual(expected);
        const relevance = new Relevance(question, texts);
        expect(texts.map((one) => relevance.of(one))).toEqual(expected);
      }),
    );
  });

  it('is that also of texts and questions of many slices', async () => {
    const endless = 'vaults'.repeat(1_000);
    const texts = [
      names(9_000),
      names(9_000, 5_000),
      names(10),
      '',
      names(200, 13_900),
      `${endless}ing keys`,
      endless,
      `${endless}${endless}`,
    ];
    for (const question of [names(20_000), names(3, 4_999), names(600, 13_000), '', 'keys', `${endless} keys`])
      expect(await relevancesOf(question, texts)).toEqual(formula(question, texts));
  });

  it.each<[string, string, readonly string[]]>([
    ['many texts', 'keys', Array.from({ length: 100 }, () => 'keys and vaults')],
    ['one long text', 'keys', [names(1_000)]],
    ['one long word', 'keys', ['x'.repeat(100_000)]],
    ['accents alone', 'keys', ['\u0301\u0316'.repeat(50_000)]],
    ['a long question', names(1_000), ['keys']],
  ])('of %s lets others run', async (_, question, texts) => {
    slowly();
    expect(await turnsUntil(relevancesOf(question, texts))).toBeGreaterThan(10);
  });

  it('takes one turn at a time however many ask', async () => {
    slowly();
    const one = await turnsUntil(relevancesOf('keys', [names(1_000)]));
    const five = await turnsUntil(Promise.all(Array.from({ length: 5 }, () => relevancesOf('keys', [names(1_000)]))));
    expect(five).toBeGreaterThan(4 * one);
  });

  it('is begun for one where many ask at once', async () => {
    slowly();
    const asked = Array.from({ length: 5 }, () => relevancesOf('keys', ['keys', 'vaults']));
    // Once to begin, once behind the first step.
    expect(jest.mocked(performance.now).mock.calls).toHaveLength(2);
    await Promise.all(asked);
  });

  it('ends when its caller leaves', async () => {
    slowly();
    const left = new AbortController();
    const asked = relevancesOf('keys', [names(10_000)], left.signal);
    setImmediate(() => left.abort(new Error('left')));
    const turns = turnsUntil(asked);
    await expect(asked).rejects.toThrow('left');
    expect(await turns).toBeLessThan(10);
  });
});
