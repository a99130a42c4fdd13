/** Text that stands in JSON as it is: no quote, no backslash, nothing below the space. */
const PLAIN = /^[ !#-[\]-\xff]*$/;

/**
 * The bytes that the text chunks of one stream have in common. A chunk with the same bytes around another plain text
 * is the same JSON with that text, so it needs no parsing, which is most of the cost of a passing stream.
 */
export class ChunkTemplate {
  private constructor(
    private readonly before: string,
    private readonly after: string,
    private readonly sentBefore: string,
    private readonly sentAfter: string,
  ) {}

  /** From a chunk that said `text`, as it came and as it was passed on; undefined where the text cannot be told from the rest. */
  static from(block: string, sent: string, text: string): ChunkTemplate | undefined {
    if (text === '' || !PLAIN.test(text)) return undefined;
    const [came, passed] = [around(block, text), around(sent, text)];
    return came === undefined || passed === undefined ? undefined : new ChunkTemplate(...came, ...passed);
  }

  /** The text of a chunk of this kind; undefined for any other. */
  textIn(block: string): string | undefined {
    const { before, after } = this;
    const end = block.length - after.length;
    // Equality of slices is far cheaper than `startsWith` and `endsWith`, which look at one character after the other.
    if (end < before.length || block.slice(end) !== after || block.slice(0, before.length) !== before) return undefined;
    const text = block.slice(before.length, end);
    return PLAIN.test(text) ? text : undefined;
  }

  /** The chunk with a text, as it is passed on. */
  with(text: string): string {
    return this.sentBefore + text + this.sentAfter;
  }
}

const around = (block: string, text: string): [string, string] | undefined => {
  const member = `"content":"${text}"`;
  const at = block.indexOf(member);
  if (at === -1 || block.includes(member, at + 1)) return undefined;
  const end = at + member.length - 1;
  return [block.slice(0, end - text.length), block.slice(end)];
};
