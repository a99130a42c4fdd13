import { type Kernels, makeKernels } from './kernels';
import {
  DIMENSIONS,
  EMBEDDING_WIDTH,
  type FloatsName,
  HEADS,
  HIDDEN,
  type Matrix,
  type MatrixName,
  MAX_TOKENS,
  type Model,
} from './model';
import { FLOAT, PANEL, PANEL_FACTORS, type Shape } from './shape';
import { makeMemory, type WasmMemory } from './wasm';

/** Room for the rows behind the last that a product touches. */
const ROWS = MAX_TOKENS + 8;
/** Room for the scores behind the last of a row that are overwritten. */
const SCORES = MAX_TOKENS + 4;
const MEMORY = 16 * 1_048_576;

interface Packed {
  readonly weights: number;
  readonly factors: number;
  readonly columns: number;
}

/**
 * The encoder's network: two pre-norm transformer layers over doubled embeddings with sinusoid positions, mean over the tokens, a
 * tanh layer, unit length. Large products run on integers: 8-bit weights, and what they are given rounded token by token.
 */
export class Network {
  private readonly memory: WasmMemory = makeMemory(MEMORY);
  private readonly kernels: Kernels;
  private used = 0;

  private readonly pieces: Float32Array;
  private readonly positions: Float32Array;
  private readonly matrices: Readonly<Record<MatrixName, Packed>>;
  private readonly constants: Readonly<Record<Exclude<FloatsName, 'pieces' | 'frequencies'>, number>>;

  private readonly input = this.floats(ROWS * EMBEDDING_WIDTH);
  private readonly tokens = this.floats(ROWS * DIMENSIONS);
  private readonly normal = this.floats(ROWS * DIMENSIONS);
  private readonly wide = this.floats(ROWS * HIDDEN);
  private readonly small = this.allocate(ROWS * HIDDEN * 2);
  private readonly steps = this.floats(ROWS * 2);
  private readonly keys = this.floats((DIMENSIONS / HEADS) * MAX_TOKENS);
  private readonly scores = this.floats(ROWS * SCORES);
  private readonly shares = this.floats(MAX_TOKENS);
  private readonly meanWide = this.floats(HIDDEN);
  private readonly mean = this.floats(DIMENSIONS);
  private readonly narrowed = this.floats(DIMENSIONS);

  constructor(
    model: Model,
    private readonly shape: Shape,
  ) {
    this.kernels = makeKernels(this.memory, shape);
    const { pieces, frequencies, ...constants } = model.floats;
    this.pieces = pieces;
    this.positions = positionsOf(frequencies);
    this.constants = mapped(constants, (values) => this.placed(values));
    this.matrices = mapped(model.matrices, (matrix) => this.packed(matrix));
  }

  /** The vector of a text of 1 to `MAX_TOKENS` tokens. */
  run(ids: readonly number[]): Float32Array {
    const { input, tokens, matrices, constants } = this;
    const count = ids.length;
    this.embed(ids);
    this.multiply('multiply', input, EMBEDDING_WIDTH, matrices['residual-0'], tokens, count);
    this.attend(0, input, EMBEDDING_WIDTH, count);
    this.widen(0, count);
    this.multiply('multiplyOnto', this.wide, HIDDEN, matrices['narrowing-0'], tokens, count);
    this.attend(1, tokens, DIMENSIONS, count);
    this.widen(1, count);

    // The mean of products is the product of the mean, so the last narrowing is done once.
    this.view(this.shares, MAX_TOKENS).fill(1 / count, 0, count);
    const { shares, meanWide, mean, narrowed } = this;
    this.mixRow(shares, count, this.wide, meanWide, HIDDEN);
    this.mixRow(shares, count, tokens, mean, DIMENSIONS);
    this.mixRow(meanWide, HIDDEN, constants['narrowing-1'], narrowed, DIMENSIONS);
    this.addTo(mean, narrowed, constants['narrowing-1-bias']);
    this.mixRow(mean, DIMENSIONS, constants.last, narrowed, DIMENSIONS);
    this.addTo(narrowed, constants['last-bias']);
    const hidden = this.view(narrowed, DIMENSIONS).map(Math.tanh);
    const length = Math.sqrt(hidden.reduce((sum, value) => sum + value * value, 0));
    return hidden.map((value) => value / length);
  }

  private embed(ids: readonly number[]): void {
    const input = this.view(this.input, ids.length * EMBEDDING_WIDTH);
    let at = 0;
    for (const id of ids)
      for (let from = id * EMBEDDING_WIDTH, end = from + EMBEDDING_WIDTH; from < end; from += 1, at += 1)
        input[at] = (this.pieces[from] as number) + (this.positions[at] as number);
  }

  /** Attention over `from`, added to the tokens. */
  private attend(index: 0 | 1, from: number, width: number, count: number): void {
    const { kernels, wide, normal, keys, scores, constants } = this;
    const part = `attention-${index}` as const;
    kernels.normalise(from, normal, count, width, constants[`${part}-scale`], constants[`${part}-shift`]);
    this.multiply('multiply', normal, width, this.matrices[part], wide, count);
    const head = width / HEADS;
    const joint = 3 * width;
    for (let left = 0; left < width; left += head) {
      const query = wide + FLOAT * left;
      const key = query + FLOAT * width;
      const value = key + FLOAT * width;
      kernels.transpose(key, FLOAT * joint, keys, FLOAT * MAX_TOKENS, count, head);
      this.mix(query, joint, keys, MAX_TOKENS, scores, SCORES, count, head, Math.ceil(count / 8) * 8);
      kernels.softmax(scores, FLOAT * SCORES, count, count);
      this.mix(scores, SCORES, value, joint, normal + FLOAT * left, width, count, count, head);
    }
    this.multiply('multiplyOnto', normal, width, this.matrices[`attended-${index}`], this.tokens, count);
  }

  private widen(index: 0 | 1, count: number): void {
    const { kernels, tokens, normal, constants } = this;
    const part = `widening-${index}` as const;
    kernels.normalise(tokens, normal, count, DIMENSIONS, constants[`${part}-scale`], constants[`${part}-shift`]);
    this.multiply('multiplyPositive', normal, DIMENSIONS, this.matrices[part], this.wide, count);
  }

  private multiply(
    mode: 'multiply' | 'multiplyPositive' | 'multiplyOnto',
    from: number,
    width: number,
    { weights, factors, columns }: Packed,
    to: number,
    count: number,
  ): void {
    const { kernels, small, steps } = this;
    kernels.round(from, small, steps, count, width);
    kernels[mode](small, width * this.shape.bytes, steps, weights, factors, to, count, columns);
  }

  /** `Kernels.mix` with strides in floats. */
  private mix(
    a: number,
    aStride: number,
    b: number,
    bStride: number,
    to: number,
    toStride: number,
    rows: number,
    inner: number,
    columns: number,
  ): void {
    this.kernels.mix(a, FLOAT * aStride, b, FLOAT * bStride, to, FLOAT * toStride, rows, inner, columns);
  }

  /** One row of `inner` floats times as many rows of `columns`. */
  private mixRow(row: number, inner: number, b: number, to: number, columns: number): void {
    this.kernels.mixRow(row, FLOAT * inner, b, FLOAT * columns, to, FLOAT * columns, 1, inner, columns);
  }

  private addTo(to: number, ...addresses: readonly number[]): void {
    const sum = this.view(to, DIMENSIONS);
    for (const address of addresses)
      for (const [index, value] of this.view(address, DIMENSIONS).entries())
        sum[index] = (sum[index] as number) + value;
  }

  private packed({ values, scales, biases }: Matrix): Packed {
    const columns = scales.length;
    const rows = values.length / columns;
    const { depth } = this.shape;
    const weights = this.allocate(values.length);
    const to = new Int8Array(this.memory.buffer, weights, values.length);
    const sums = new Float32Array(columns);
    let at = 0;
    for (let panel = 0; panel < columns; panel += PANEL)
      for (let row = 0; row < rows; row += depth)
        for (let column = panel; column < panel + PANEL; column += 1)
          for (let deep = row; deep < row + depth; deep += 1, at += 1) {
            const value = values[deep * columns + column] as number;
            to[at] = value;
            sums[column] = (sums[column] as number) + value;
          }
    const factors = new Float32Array((columns / PANEL) * PANEL_FACTORS);
    for (let column = 0; column < columns; column += 1) {
      const place = Math.floor(column / PANEL) * PANEL_FACTORS + (column % PANEL);
      factors[place] = scales[column] as number;
      factors[place + PANEL] = (scales[column] as number) * (sums[column] as number);
      factors[place + 2 * PANEL] = biases[column] as number;
    }
    return { weights, factors: this.placed(factors), columns };
  }

  private placed(values: Float32Array): number {
    const address = this.floats(values.length);
    this.view(address, values.length).set(values);
    return address;
  }

  private view(address: number, length: number): Float32Array {
    return new Float32Array(this.memory.buffer, address, length);
  }

  private floats(count: number): number {
    return this.allocate(FLOAT * count);
  }

  /** An address of so many bytes, on a boundary of 64. */
  private allocate(bytes: number): number {
    const address = this.used;
    this.used = Math.ceil((address + bytes) / 64) * 64;
    if (this.used > MEMORY) throw new Error('the local embedding model is larger than its memory');
    return address;
  }
}

/** What the place of a token adds to its embedding: sines, then cosines. */
const positionsOf = (frequencies: Float32Array): Float32Array => {
  const half = frequencies.length;
  return Float32Array.from({ length: MAX_TOKENS * 2 * half }, (_, index) => {
    const angle = Math.fround(Math.floor(index / (2 * half)) * (frequencies[index % half] as number));
    return index % (2 * half) < half ? Math.sin(angle) : Math.cos(angle);
  });
};

const mapped = <K extends string, V, R>(values: Readonly<Record<K, V>>, map: (value: V) => R): Record<K, R> =>
  Object.fromEntries((Object.entries(values) as [K, V][]).map(([key, value]) => [key, map(value)])) as Record<K, R>;
