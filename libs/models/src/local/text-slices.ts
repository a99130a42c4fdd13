/** Longest slice, characters. Normalizing takes the square of the length of a run of accents, and the main loop waits for a slice. */
const SLICE = 1_024;

/** White space, and signs that stand in no word; none that an accent or the small form of a letter beside them depends on. */
const APART = /[\t-\r\p{Z}!"#$%&()*+,\-/;<=>?@[\\\]_{|}~\u0f0b\u3001\u3002]/u;
/** Between letters and digits that stay what they are without each other; Korean letters and Arabic ligatures, among others, may not. */
const BETWEEN =
  /[\p{Ll}\p{Nd}](?=[\p{Ll}\p{Nd}])|[A-Z](?=[A-Z\p{Ll}\p{Nd}])|\p{Lo}(?=(?![\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\ud7b0-\ud7ff\ufb50-\ufdff\ufe70-\uffef\u{16d40}-\u{16d7f}])\p{Lo})/u;

/**
 * A text in slices that can be normalized and written small each by itself. The cut is before white space or a sign, else
 * inside a word, between plain letters; a text that has neither for half a slice is cut anywhere.
 */
export function* slicesOf(text: string, size = SLICE): Generator<string> {
  let start = 0;
  while (text.length - start > size) {
    const end = cutAfter(text, start + Math.ceil(size / 2), start + size);
    yield text.slice(start, end);
    start = end;
  }
  yield text.slice(start);
}

/** A place behind `least`, at most `most`. */
const cutAfter = (text: string, least: number, most: number): number => {
  const window = text.slice(least, most);
  const apart = window.search(APART);
  if (apart !== -1) return least + apart;
  const between = BETWEEN.exec(window);
  if (between !== null) return least + between.index + between[0].length;
  return isLowSurrogate(text.charCodeAt(most)) ? most - 1 : most;
};

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
