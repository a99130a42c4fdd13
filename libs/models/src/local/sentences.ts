/** A sentence of a text, by character offsets (end exclusive). */
export interface Sentence {
  readonly start: number;
  readonly end: number;
  /** Prose ends where sentences end; a table row is one piece, and so are lines of code. */
  readonly kind: 'prose' | 'row' | 'code';
}

/** Longest sentence kept whole, characters; what is longer (code, tables, lists without stops) is cut at white space. */
const MAX_SENTENCE = 400;

/** What begins a new piece in Markdown: list items, quotes, table rows. Headings are pieces of their own, and never sentences. */
const MARKER = /^[ \t]*(?:[-*+]|\d+[.)]|>)[ \t]+/;
const HEADING = /^[ \t]*#{1,6}[ \t]/;
const FENCE = /^[ \t]*(?:```|~~~)/;
const ABBREVIATION = /(?:\b(?:e\.g|i\.e|etc|cf|vs|Dr|Mr|Mrs|Ms|No|Nr|St|approx|bzw|z\.B|d\.h|u\.a)|\b[A-Z])\.$/;

/** The sentences of a Markdown or plain text in order, as offsets, so that a quotation of one is verbatim. */
export const sentencesOf = (text: string): readonly Sentence[] =>
  blocks(text)
    .flatMap((block) => sentencesIn(text, block))
    .flatMap((sentence) => cut(text, sentence));

/** Runs of lines that belong together: paragraphs, list items, table rows, code. */
const blocks = (text: string): readonly Sentence[] => {
  const found: Sentence[] = [];
  let open: { start: number; end: number; kind: Sentence['kind'] } | undefined;
  let inCode = false;
  const close = (): void => {
    if (open !== undefined) found.push(open);
    open = undefined;
  };
  let start = 0;
  for (const line of text.split('\n')) {
    const end = start + line.length;
    const marker = inCode ? 0 : (MARKER.exec(line)?.[0].length ?? 0);
    const row = !inCode && line.trimStart().startsWith('|');
    if (FENCE.test(line)) {
      close();
      inCode = !inCode;
    } else if (line.trim() === '' || (!inCode && (HEADING.test(line) || isRule(line)))) close();
    else if (marker > 0 || row || open === undefined || open.kind === 'row') {
      close();
      open = { start: start + marker, end, kind: inCode ? 'code' : row ? 'row' : 'prose' };
    } else open.end = end;
    start = end + 1;
  }
  close();
  return found;
};

/** `---`, and what separates a table's head from its body. */
const isRule = (line: string): boolean => line.includes('---') && /^[ \t:|-]+$/.test(line);

const sentencesIn = (text: string, block: Sentence): readonly Sentence[] => {
  const { kind } = block;
  if (kind !== 'prose') return [block];
  const found: Sentence[] = [];
  const end =
    /[.!?\u061f\u06d4\u0964\u104b\u17d4]["')\]\u201d\u2019*_`]*(?=\s|$)|[\u3002\uff01\uff1f\uff61]["')\]\u201d\u2019\u300d\u300f\uff09*_`]*/g;
  const body = text.slice(block.start, block.end);
  let start = 0;
  for (const match of body.matchAll(end)) {
    const stop = match.index + match[0].length;
    if (match[0].startsWith('.') && ABBREVIATION.test(body.slice(Math.max(start, match.index - 10), match.index + 1)))
      continue;
    found.push(trimmed(text, kind, block.start + start, block.start + stop));
    start = stop;
  }
  found.push(trimmed(text, kind, block.start + start, block.end));
  return found.filter((sentence) => sentence.end > sentence.start);
};

const cut = (text: string, { start, end, kind }: Sentence): readonly Sentence[] => {
  const pieces: Sentence[] = [];
  let from = start;
  while (end - from > MAX_SENTENCE) {
    const space = text.slice(from, from + MAX_SENTENCE).search(/\s\S*$/);
    const to = from + (space > MAX_SENTENCE / 2 ? space : wholeLetters(text, from, MAX_SENTENCE));
    pieces.push(trimmed(text, kind, from, to));
    from = to;
  }
  return [...pieces, trimmed(text, kind, from, end)].filter((piece) => piece.end > piece.start);
};

/** So many characters from there on, or one less, so that none is half a letter. */
const wholeLetters = (text: string, from: number, count: number): number =>
  (text.codePointAt(from + count - 1) ?? 0) > 0xffff ? count - 1 : count;

const trimmed = (text: string, kind: Sentence['kind'], start: number, end: number): Sentence => {
  const piece = text.slice(start, end);
  return {
    kind,
    start: start + piece.length - piece.trimStart().length,
    end: end - (piece.length - piece.trimEnd().length),
  };
};
