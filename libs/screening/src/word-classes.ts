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
  const longest = Math.max(...[...stems.keys()].map(({ length }) => length));
  const classOf = (word: string, shortest: number): number => {
    const whole = exact.get(word);
    if (whole !== undefined) return whole;
    for (let size = Math.min(longest, word.length); size >= shortest; size--) {
      const stem = stems.get(word.slice(0, size));
      if (stem !== undefined) return stem;
    }
    return 0;
  };
  return (word) => {
    const own = classOf(word, 3);
    if (own !== 0 || !heads || word.length < COMPOUND) return own;
    for (let from = 3; from <= word.length - HEAD; from++) {
      const head = classOf(word.slice(from), HEAD);
      if (head !== 0) return head;
    }
    return 0;
  };
};
