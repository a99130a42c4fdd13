/** A citation in the answer: `number` as the reader sees it, `at` the offset of its mark. */
export interface Citation {
  readonly number: number;
  /** Number of the source as the model was given it. */
  readonly source: number;
  readonly at: number;
}

/** Most characters of a mark that is still open: `[12, 13]`. */
const LONGEST_MARK = 24;
const MARK = /^\[(\d{1,3}(?:\s*,\s*\d{1,3})*)\]/;
const BEGINS_MARK = /^\[[\d\s,]*$/;

/**
 * Reads the citation marks of a model, such as `[3]` or `[3, 5]`, while the answer streams, and numbers the sources in
 * order of first use. Marks of unknown sources are dropped; code is left alone.
 */
export class CitationReader {
  readonly citations: Citation[] = [];
  private held = '';
  private written = 0;
  private inCode = false;

  /**
   * `sources` is the number of sources for the model, numbered from 1; `numbers` are the reader's numbers of sources
   * that were cited before, to which it adds.
   */
  constructor(
    private readonly sources: number,
    private readonly numbers = new Map<number, number>(),
  ) {}

  /** The next piece of the model's answer in, what can be shown of it out. */
  push(piece: string): string {
    this.held += piece;
    return this.release(false);
  }

  /** The rest. */
  end(): string {
    return this.release(true);
  }

  private release(atEnd: boolean): string {
    let out = '';
    let from = 0;
    const text = this.held;
    this.held = '';
    for (let index = 0; index < text.length; index += 1) {
      const character = text[index];
      if (character === '`') this.inCode = !this.inCode;
      if (character !== '[' || this.inCode || this.sources === 0) continue;
      const rest = text.slice(index, index + LONGEST_MARK);
      if (!atEnd && rest.length < LONGEST_MARK && BEGINS_MARK.test(rest)) {
        return this.wrote(out + this.hold(text, from, index));
      }
      const mark = MARK.exec(rest);
      if (mark === null) continue;
      out += text.slice(from, index);
      out = this.cite(out, (mark[1] as string).split(',').map(Number));
      from = index + mark[0].length;
      index = from - 1;
    }
    return this.wrote(out + (atEnd ? text.slice(from) : this.hold(text, from, text.length)));
  }

  /**
   * Holds back the text from an index on, and a space before it, which is dropped with the mark of an unknown source.
   * Returns the text before it.
   */
  private hold(text: string, from: number, index: number): string {
    const until = this.sources > 0 && index > from && text[index - 1] === ' ' ? index - 1 : index;
    this.held = text.slice(until);
    return text.slice(from, until);
  }

  /** Adds the marks of sources that exist, or takes the space before a mark that names none. */
  private cite(out: string, sources: readonly number[]): string {
    const known = sources.filter((source) => source >= 1 && source <= this.sources);
    if (known.length === 0) return out.replace(/ $/, '');
    let text = out;
    for (const source of known) {
      const number = this.numbers.get(source) ?? this.numbers.size + 1;
      this.numbers.set(source, number);
      this.citations.push({ number, source, at: this.written + text.length });
      text += `[${number}]`;
    }
    return text;
  }

  private wrote(out: string): string {
    this.written += out.length;
    return out;
  }
}
