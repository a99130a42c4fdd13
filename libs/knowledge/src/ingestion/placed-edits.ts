import type { Passage, StoredPassage } from '@app/search-index';
import type { Span } from './chunk-limits';

/** The passages that were served last, the ids of edited and disabled ones, and the text that they were cut from. */
export interface PreviousContent {
  readonly passages: readonly StoredPassage[];
  readonly edited: ReadonlySet<string>;
  readonly text: string;
}

/** An edit, and the present place of its original text, in characters (end exclusive). */
export interface PlacedEdit extends Span {
  readonly edit: StoredPassage;
}

/** A shorter text counts as moved only if it is a whole line or sentence: a word may appear anywhere. */
const TELLING = 40;
/**
 * Characters that are used to search a text, because a search may take the product of both lengths; and the most
 * matches of them.
 */
const HEAD = 64;
const MOST_FOUND = 1_000;

export const spanKey = ({ start, end }: Span): string => `${start}-${end}`;

/** The text that a passage was cut from. */
export const originalOf = ({ text }: Pick<PreviousContent, 'text'>, { start, end }: Span): string =>
  text.slice(start, end);

/**
 * The places of the texts of edited and disabled chunks in a text, word for word: at their places, or where the edit
 * before them moved to, or where a chunk equals one, or else at the first match. Missing texts are left out.
 */
export const placedEdits = (
  previous: PreviousContent,
  text: string,
  chunks: readonly Pick<Passage, 'start' | 'end' | 'text'>[],
): readonly PlacedEdit[] => {
  const edits = previous.passages.filter(
    (edit) => previous.edited.has(edit.chunkId) && originalOf(previous, edit) !== '',
  );
  const taken = new Set<string>();
  const placed = new Map<StoredPassage, PlacedEdit>();
  const place = (edit: StoredPassage, start: number): boolean => {
    const at = { edit, start, end: start + edit.end - edit.start };
    if (taken.has(spanKey(at)) || !text.startsWith(originalOf(previous, edit), start)) return false;
    taken.add(spanKey(at));
    placed.set(edit, at);
    return true;
  };
  const moved = edits.filter((edit) => !place(edit, edit.start));
  if (moved.length > 0) {
    const byText = Map.groupBy(chunks, (chunk) => chunk.text);
    let moves = 0;
    for (const edit of moved) {
      const original = originalOf(previous, edit);
      const isPlaced =
        place(edit, edit.start + moves) ||
        byText.get(original)?.some(({ start }) => place(edit, start)) === true ||
        placesIn(text, original).some((start) => place(edit, start));
      if (isPlaced) moves = (placed.get(edit) as PlacedEdit).start - edit.start;
    }
  }
  return edits.flatMap((edit) => placed.get(edit) ?? []);
};

/** The place of a text in another, separate from the words around it. */
const placesIn = (text: string, part: string): readonly number[] => {
  const places: number[] = [];
  const head = part.slice(0, HEAD);
  for (let at = text.indexOf(head), found = 0; at >= 0 && found < MOST_FOUND; at = text.indexOf(head, at + 1)) {
    if (text.startsWith(part, at) && isApart(text, at, at + part.length)) places.push(at);
    found += 1;
  }
  return places;
};

const LETTER = /[\p{L}\p{N}]/u;
const SENTENCE_END = /[.!?…。！？]\s*$/u;

const isApart = (text: string, start: number, end: number): boolean => {
  const [before, after] = [text.slice(Math.max(0, start - 8), start), text.slice(end, end + 1)];
  const part = text.slice(start, end);
  if (part.length >= TELLING) {
    const isWord = LETTER.test(before.slice(-1)) && LETTER.test(part.slice(0, 1));
    return !isWord && !(LETTER.test(after) && LETTER.test(part.slice(-1)));
  }
  const begins = before === '' || /\n\s*$/.test(before) || (/\s$/.test(before) && SENTENCE_END.test(before));
  return begins && (after === '' || /[\r\n]/.test(after) || (/\s/.test(after) && SENTENCE_END.test(part)));
};

/**
 * Earlier chunks that are in the text word for word, at their places or where the edit next to them moved to: as spans
 * of the present text, by `spanKey`.
 */
export const stayed = (
  { passages, text: previousText }: PreviousContent,
  text: string,
  placed: readonly PlacedEdit[],
): ReadonlyMap<string, StoredPassage> => {
  const found = new Map<string, StoredPassage>();
  const note = (passage: StoredPassage, moves: number): void => {
    const [start, end] = [passage.start + moves, passage.end + moves];
    if (text.startsWith(previousText.slice(passage.start, passage.end), start))
      found.set(spanKey({ start, end }), passage);
  };
  for (const passage of passages) note(passage, 0);
  const places = new Map(passages.map((passage, index) => [passage, index]));
  for (const { edit, start } of placed) {
    const at = places.get(edit) ?? 0;
    if (start === edit.start) continue;
    note(edit, start - edit.start);
    for (let index = at - 1; (passages[index]?.end ?? -1) > edit.start; index -= 1)
      note(passages[index] as StoredPassage, start - edit.start);
    for (let index = at + 1; (passages[index]?.start ?? Infinity) < edit.end; index += 1)
      note(passages[index] as StoredPassage, start - edit.start);
  }
  return found;
};
