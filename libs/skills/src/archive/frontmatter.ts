import { CST, isMap, isScalar, isSeq, Lexer, LineCounter, type Pair, parseDocument, type Scalar } from 'yaml';
import { fail } from './skill';

/** Bytes of a frontmatter: one of all that the format names takes a tenth. */
export const MAX_FRONTMATTER_BYTES = 32 * 1024;
/** Words, signs and spaces of it. Bounds the work. */
const MAX_TOKENS = 4_000;
/** The same, of all that one archive has. */
const MAX_TOKENS_TOGETHER = 100_000;
const MAX_DEPTH = 16;
const TOO_LONG = `The frontmatter has more than ${MAX_FRONTMATTER_BYTES} bytes.`;
const TOO_DEEP = `Values are nested more than ${MAX_DEPTH} deep. Make them flat.`;

/** Bounds the work of reading all frontmatters of one archive. */
export class FrontmatterBudget {
  private left = MAX_TOKENS_TOGETHER;

  /** False once there is none left. */
  spend(): boolean {
    this.left -= 1;
    return this.left >= 0;
  }
}

/** A frontmatter as it was read. */
export interface Frontmatter {
  /** Values as YAML's core schema has them; a number that would be written otherwise, such as `1.0`, is its text. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The text of each key at the top whose value is a scalar. */
  readonly texts: ReadonlyMap<string, string>;
  /** The line of each key at the top. */
  readonly lines: ReadonlyMap<string, number>;
  /** Keys whose text was quoted to be read: it has a colon that YAML takes for another key. */
  readonly quoted: readonly string[];
}

/**
 * Reads the frontmatter of `path`: a YAML map without tags, anchors, aliases, merge keys, explicit keys and doubled keys.
 * `firstLine` is the line of the file that it begins at, `budget` what it shares with others. Throws `SkillFailure` `invalid_frontmatter`, with the line, and `too_large` where nothing is left of the budget.
 */
export const readFrontmatter = (
  text: string,
  path: string,
  budget = new FrontmatterBudget(),
  firstLine = 2,
): Frontmatter => {
  const reading = new Reading(path, firstLine, budget);
  if (Buffer.byteLength(text) > MAX_FRONTMATTER_BYTES) reading.rejectLong(text);
  const quoted: string[] = [];
  const document = reading.parse(text) ?? reading.parseAgain(text, quoteColons(text, quoted)) ?? reading.rejectError();
  if (!isMap(document.contents))
    return reading.reject(firstLine, 'The frontmatter is no map. Write one key a line, such as `name: my-skill`.');
  const [texts, lines] = [new Map<string, string>(), new Map<string, number>()];
  for (const pair of document.contents.items) {
    const key = String((pair.key as Scalar).value);
    lines.set(key, reading.lineOf(pair.key));
    if (isScalar(pair.value)) texts.set(key, sourceOf(pair.value));
  }
  return { values: reading.map(document.contents.items, 1), texts, lines, quoted };
};

/** What a scalar says, whatever type it is taken for. */
const sourceOf = (scalar: Scalar): string => scalar.source ?? String(scalar.value ?? '');

const FORBIDDEN: Readonly<Record<string, string | undefined>> = {
  tag: 'Tags (`!`) are not accepted. Write the value without one, or in quotes.',
  anchor: 'Anchors (`&`) are not accepted. Write the value out, or in quotes.',
  alias: 'Aliases (`*`) are not accepted. Write the value out, or in quotes.',
  'directive-line': 'Directives (`%`) are not accepted. Leave the line out.',
  'doc-start': 'A second document begins here. Leave the line out.',
  'doc-end': 'The frontmatter ends with `---`. Leave the line out.',
  'explicit-key-ind': 'Keys with `?` are not accepted. Write `key: value`.',
};

/** Tokens of the lexer that stand for no text: a document, the end of a flow, a scalar. */
const MARKS: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001f']);

class Reading {
  private readonly counter = new LineCounter();
  private error: { readonly line: number; readonly message: string } | undefined;

  constructor(
    private readonly path: string,
    private readonly firstLine: number,
    private readonly budget: FrontmatterBudget,
  ) {}

  reject(line: number | undefined, sentence: string, key?: string): never {
    return fail('invalid_frontmatter', sentence, {
      path: this.path,
      ...(line === undefined ? {} : { line }),
      ...(key === undefined ? {} : { key }),
    });
  }

  /** Of a text with too many bytes: for what is wrong in those that it may have, if something is, and else for its length. */
  rejectLong(text: string): never {
    const most = Buffer.from(text).subarray(0, MAX_FRONTMATTER_BYTES).toString().length;
    // Whole lines: a line that is cut could be taken for something else.
    const document = this.parse(text.slice(0, text.lastIndexOf('\n', most) + 1));
    if (isMap(document?.contents)) this.map(document.contents.items, 1);
    return this.rejectAt(text, most, `${TOO_LONG} Shorten it, and end it with a line \`---\`.`);
  }

  /** With the line and the key at the top that an offset of a text is in. */
  private rejectAt(text: string, offset: number, sentence: string): never {
    const end = text.indexOf('\n', offset);
    const before = text.slice(0, end < 0 ? text.length : end).split('\n');
    const at = before.findLastIndex((line) => KEY.test(line));
    const line = at < 0 ? before.length : at + 1;
    return this.reject(this.line(line), sentence, KEY.exec(before[at] ?? '')?.[1]);
  }

  /** Of what the first attempt found wrong. */
  rejectError(): never {
    return this.reject(this.error?.line, `This is no valid YAML: ${this.error?.message ?? ''}. Put values in quotes.`);
  }

  /** Undefined where it is no YAML. */
  parse(text: string): ReturnType<typeof parseDocument> | undefined {
    this.scan(text);
    const lineCounter = this.error === undefined ? this.counter : new LineCounter();
    const document = withoutStacks(() =>
      parseDocument(text, { lineCounter, prettyErrors: false, uniqueKeys: false, schema: 'core', version: '1.2' }),
    );
    const [error] = document.errors;
    if (error === undefined) return document;
    const { line } = lineCounter.linePos(error.pos[0]);
    if (error.code === 'RESOURCE_EXHAUSTION') this.reject(this.line(line), TOO_DEEP);
    this.error ??= { line: this.line(line), message: error.message.replace(/\.$/, '') };
    return undefined;
  }

  /** Of a text that is no YAML, what was made of it: undefined where that is the same text. */
  parseAgain(before: string, text: string): ReturnType<typeof parseDocument> | undefined {
    return before === text ? undefined : this.parse(text);
  }

  lineOf(node: unknown): number {
    const range = (node as { range?: readonly [number, number, number] | null } | null)?.range;
    return this.line(range ? this.counter.linePos(range[0]).line : 1);
  }

  map(items: readonly Pair[], depth: number): Record<string, unknown> {
    const entries = new Map<string, unknown>();
    for (const { key, value } of items) {
      if (!isScalar(key)) return this.reject(this.lineOf(key), 'A key must be a word, not a list or a map.');
      const name = sourceOf(key);
      if (name === '<<' || name === '__proto__')
        return this.reject(this.lineOf(key), 'This key is not accepted. Leave it out.', name);
      if (entries.has(name)) return this.reject(this.lineOf(key), 'This key stands twice. Leave one out.', name);
      entries.set(name, this.value(value, depth));
    }
    return Object.fromEntries(entries);
  }

  private value(node: unknown, depth: number): unknown {
    if (depth > MAX_DEPTH) return this.reject(this.lineOf(node), TOO_DEEP);
    if (isMap(node)) return this.map(node.items, depth + 1);
    if (isSeq(node)) return node.items.map((item) => this.value(item, depth + 1));
    if (!isScalar(node)) return null;
    const { value } = node;
    return typeof value === 'number' && String(value) !== node.source ? sourceOf(node) : value;
  }

  /** Rejects what need not be parsed: it is wrong by its words, or is too much work. */
  private scan(text: string): void {
    let [tokens, depth, offset] = [0, 0, 0];
    for (const token of new Lexer().lex(text)) {
      const type = CST.tokenType(token);
      const lineHere = (): number => this.line(text.slice(0, offset).split('\n').length);
      const forbidden = FORBIDDEN[String(type)];
      if (forbidden !== undefined && !(type === 'doc-start' && offset === 0)) this.reject(lineHere(), forbidden);
      if (type === 'flow-map-start' || type === 'flow-seq-start') depth += 1;
      if (type === 'flow-map-end' || type === 'flow-seq-end') depth -= 1;
      if (depth > MAX_DEPTH) this.reject(lineHere(), TOO_DEEP);
      tokens += 1;
      if (tokens > MAX_TOKENS)
        this.rejectAt(text, offset, `The frontmatter has more than ${MAX_TOKENS} words and signs. Shorten it.`);
      if (!this.budget.spend())
        fail(
          'too_large',
          `The frontmatters of the archive up to this one have more than ${MAX_TOKENS_TOGETHER} words and signs together. Send it in another archive.`,
          { path: this.path },
        );
      if (!MARKS.has(token)) offset += token.length;
    }
  }

  private line(line: number): number {
    return this.firstLine + line - 1;
  }
}

/** Runs what makes thousands of errors that nobody throws: the stack of each takes longer than to find it. */
const withoutStacks = <T>(work: () => T): T => {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return work();
  } finally {
    Error.stackTraceLimit = before;
  }
};

/** A key at the top, at the beginning of its line. */
const KEY = /^([\p{L}\p{N}_][^:]{0,63}):(?:\s|$)/u;
const PLAIN = /^([A-Za-z][\w-]*):[ \t]+([^\s"'[\]{}>|&*!%@`#,?-].*)$/;

/** Puts values of the top that have a colon into quotes; a description with the lines that go on with it. */
const quoteColons = (text: string, quoted: string[]): string => {
  const lines = text.split('\n');
  const out: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const [line, key, first] = PLAIN.exec(lines[at] ?? '') ?? [lines[at] ?? ''];
    const parts = [first?.trim() ?? ''];
    let end = at;
    while (key === 'description' && /^ +\S/.test(lines[end + 1] ?? '')) {
      end += 1;
      parts.push((lines[end] ?? '').trim());
    }
    const value = parts.join(' ');
    if (key === undefined || !/:(?:\s|$)/.test(value)) {
      out.push(line);
      continue;
    }
    quoted.push(key);
    // Lines are kept as many, so that those of later keys are still theirs.
    out.push(`${key}: ${JSON.stringify(value)}`, ...Array.from({ length: end - at }, () => ''));
    at = end;
  }
  return out.join('\n');
};
