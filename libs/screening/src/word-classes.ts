/** The least letters of a word that are read as its beginning. */
const SHORTEST = 3;
/** Words that are long enough to be put together of others, as German ones are; and the least that is read as one of those. */
const [COMPOUND, HEAD] = [10, 5] as const;

/**
 * Finds the class of a word, from 1 in the order of the lexicon; 0 for none. A class lists words in folded form with spaces between them; `*`
 * is any ending. The first class that lists a word has it; a whole word goes before a beginning, a long beginning before a short one. With
 * `heads`, a long word that none lists has the class of what it ends in: `chatprotokolle` that of `protokoll*`.
 */
export const wordClasses = (
  lexicon: Readonly<Record<string, string>>,
  { heads = false }: { readonly heads?: boolean } = {},
): ((word: string) => number) => {
  const exact = new Map<string, number>();
  const stems = new Map<string, number>();
  for (const [index, words] of Object.values(lexicon).entries())
    for (const word of words.split(' ')) {
      const isStem = word.endsWith('*');
      const known = isStem ? stems : exact;
      const name = isStem ? word.slice(0, -1) : word;
      if (!known.has(name)) known.set(name, index + 1);
    }
  // Most words begin like none.
  const byStart = new Map<string, [stem: string, found: number][]>();
  // Without Map.groupBy: this is loaded before a Node without it is told that it is too old.
  for (const entry of [...stems].toSorted(([one], [other]) => other.length - one.length)) {
    const start = entry[0].slice(0, SHORTEST);
    byStart.set(start, [...(byStart.get(start) ?? []), entry]);
  }
  const classOf = (word: string, shortest: number): number => {
    const whole = exact.get(word);
    if (whole !== undefined) return whole;
    for (const [stem, found] of byStart.get(word.slice(0, SHORTEST)) ?? [])
      if (stem.length >= shortest && word.startsWith(stem)) return found;
    return 0;
  };
  return (word) => {
    const own = classOf(word, SHORTEST);
    if (own !== 0 || !heads || word.length < COMPOUND) return own;
    for (let from = SHORTEST; from <= word.length - HEAD; from++) {
      const head = classOf(word.slice(from), HEAD);
      if (head !== 0) return head;
    }
    return 0;
  };
};
