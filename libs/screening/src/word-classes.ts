/**
 * Finds the class of a word, from 1 in the order of the lexicon; 0 for none. A class lists words in folded form with spaces between them; `*`
 * is any ending. The first class that lists a word has it; a whole word goes before a beginning, a long beginning before a short one.
 */
export const wordClasses = (lexicon: Readonly<Record<string, string>>): ((word: string) => number) => {
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
  return (word) => {
    const whole = exact.get(word);
    if (whole !== undefined) return whole;
    for (let size = Math.min(longest, word.length); size > 2; size--) {
      const stem = stems.get(word.slice(0, size));
      if (stem !== undefined) return stem;
    }
    return 0;
  };
};
