import type { Vocabulary } from './weights';

/** Ids below this are reserved for unknown and control pieces. */
const RESERVED = 6;
const UNKNOWN = 0;
/** Log probability of a character that no piece covers: worse than any piece. */
const UNKNOWN_SCORE = -30;
const SPACE = '\u2581';
/** What is longer than a word (keys, addresses, text without spaces) costs no more than one: only the tokens it begins with count. */
const WORD_TOKENS = 16;
/** Characters behind these are not looked at. */
const MAX_CHARACTERS = 16_384;

interface Branch {
  readonly next: Map<string, Branch>;
  id: number;
}

/** Splits text into the most probable pieces of a SentencePiece unigram vocabulary (Viterbi over a trie). */
export class Tokenizer {
  private readonly root: Branch = { next: new Map(), id: -1 };
  private readonly scores: readonly number[];
  private readonly beginsWord: readonly boolean[];

  constructor(vocabulary: Vocabulary) {
    this.scores = vocabulary.map(([, score]) => score ?? 0);
    this.beginsWord = vocabulary.map(([piece]) => piece.startsWith(SPACE));
    vocabulary.forEach(([piece], id) => {
      if (id >= RESERVED) this.add(piece, id);
    });
  }

  /** At most `limit` token ids, at least one, and at most `WORD_TOKENS` of a word; runs of unknown characters are one token. */
  encode(text: string, limit: number): number[] {
    const characters = [
      ...(SPACE + text.slice(0, MAX_CHARACTERS).normalize('NFKC').replace(/\s+/gu, ' ').trim().replaceAll(' ', SPACE)),
    ];
    const best = new Float64Array(characters.length + 1).fill(-Infinity);
    const from = new Int32Array(characters.length + 1);
    const piece = new Int32Array(characters.length + 1);
    best[0] = 0;
    const reach = (start: number, end: number, id: number, score: number): void => {
      if ((best[start] as number) + score <= (best[end] as number)) return;
      best[end] = (best[start] as number) + score;
      from[end] = start;
      piece[end] = id;
    };
    for (let start = 0; start < characters.length; start += 1) {
      reach(start, start + 1, UNKNOWN, UNKNOWN_SCORE);
      let branch: Branch | undefined = this.root;
      for (let end = start; end < characters.length; end += 1) {
        branch = branch.next.get(characters[end] as string);
        if (branch === undefined) break;
        if (branch.id >= 0) reach(start, end + 1, branch.id, this.scores[branch.id] as number);
      }
    }
    const ids: number[] = [];
    for (let end = characters.length; end > 0; end = from[end] as number) ids.push(piece[end] as number);
    const merged = ids.toReversed().filter((id, index, all) => id !== UNKNOWN || all[index - 1] !== UNKNOWN);
    return this.beginningsOfWords(merged).slice(0, limit);
  }

  private beginningsOfWords(ids: readonly number[]): number[] {
    let ofWord = 0;
    return ids.filter((id) => {
      ofWord = this.beginsWord[id] === true ? 1 : ofWord + 1;
      return ofWord <= WORD_TOKENS;
    });
  }

  private add(piece: string, id: number): void {
    let branch = this.root;
    for (const character of piece) {
      const next: Branch = branch.next.get(character) ?? { next: new Map(), id: -1 };
      branch.next.set(character, next);
      branch = next;
    }
    branch.id = id;
  }
}
