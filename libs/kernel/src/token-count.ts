import type * as Cl100k from 'gpt-tokenizer/encoding/cl100k_base';

/**
 * A word with the white space before it, each cut after 64 characters: byte pair encoding takes quadratic time, so a
 * text of one word of a megabyte would take minutes.
 */
const RUN = /\s{0,64}\S{1,64}|\s{1,64}/g;
/** Matches a text that must be cut. Otherwise the tokenizer's own words are short enough. */
const LONG_WORD = /(?:^|\s)\S{65}|(?:^|\S)\s{65}/;

let loaded: typeof Cl100k | undefined;

/** Loaded with the first text: it takes 60 ms and 45 MB. */
const tokenizer = (): typeof Cl100k => (loaded ??= require('gpt-tokenizer/encoding/cl100k_base') as typeof Cl100k);

/** Names of special tokens in a text are text. */
const AS_TEXT = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };

const countOf = (run: string): number => tokenizer().countTokens(run, AS_TEXT);

/**
 * Counts the tokens of a whole text in `cl100k_base`, like the tokenizer; rarely one more or fewer for each 64
 * characters of a longer word.
 */
export const countTokens = (text: string): number => {
  if (!LONG_WORD.test(text)) return countOf(text);
  let total = 0;
  for (const [run] of text.matchAll(RUN)) total += countOf(run);
  return total;
};

/**
 * Counts the tokens of a text in `cl100k_base`, the encoding of OpenAI's embedding models, once and word by word, so
 * the count of any part is known. Rarely differs from the tokenizer's count for that part: a line end after a full stop
 * may count one more, and a longer word one more or fewer per 64 characters, because a part may have a shorter
 * encoding.
 */
export class TokenCount {
  private readonly starts: number[] = [];
  /** Tokens before each run, and of all. */
  private readonly before: number[] = [0];

  constructor(private readonly text: string) {
    let total = 0;
    for (const { index, 0: run } of text.matchAll(RUN)) {
      total += countOf(run);
      this.starts.push(index);
      this.before.push(total);
    }
  }

  get total(): number {
    return this.before.at(-1) as number;
  }

  /** Tokens of `text.slice(start, end)`. */
  between(start: number, end: number): number {
    const first = this.runAt(start);
    const last = this.runAt(end - 1);
    if (first >= last) return countOf(this.text.slice(start, end));
    const whole = (this.before[last] as number) - (this.before[first + 1] as number);
    return (
      countOf(this.text.slice(start, this.starts[first + 1])) + whole + countOf(this.text.slice(this.starts[last], end))
    );
  }

  /** Index of the run that holds a character. */
  private runAt(offset: number): number {
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
