import { mix, multiply } from './products';
import { normalise, round, softmax, transpose } from './rows';
import type { Shape } from './shape';
import { instantiate, type WasmFunction, type WasmMemory, wasmModule } from './wasm';

/** Addresses and strides are in bytes, counts in numbers; every count is above zero. */
export interface Kernels {
  /** `rows` of `width` (of 16) floats to the shape's levels, and for each row its step and its least value. */
  round(from: number, to: number, steps: number, rows: number, width: number): void;
  /** Rows of zero mean and unit variance, times `scale` plus `shift`; `width` is a multiple of 4. */
  normalise(from: number, to: number, rows: number, width: number, scale: number, shift: number): void;
  /** Rounded rows times packed weights plus the bias: `stride` bytes a row, `columns` of `PANEL`. */
  multiply: Multiply;
  /** The same, nothing below zero. */
  multiplyPositive: Multiply;
  /** The same, added to what `to` holds. */
  multiplyOnto: Multiply;
  /** Float product: `rows` (of 4) by `inner` times `inner` by `columns` (of 8); those behind the last row are read and written. */
  mix: Mix;
  /** The same for one row; `columns` of 32. */
  mixRow: Mix;
  transpose(from: number, fromStride: number, to: number, toStride: number, rows: number, columns: number): void;
  /** Rows of `count` scores to shares of one; the four behind them in a row are overwritten. */
  softmax(at: number, stride: number, rows: number, count: number): void;
}

type Multiply = (
  from: number,
  stride: number,
  steps: number,
  weights: number,
  factors: number,
  to: number,
  rows: number,
  columns: number,
) => void;

type Mix = (
  a: number,
  aStride: number,
  b: number,
  bStride: number,
  to: number,
  toStride: number,
  rows: number,
  inner: number,
  columns: number,
) => void;

/** The kernels on `memory`, in this shape. */
export const makeKernels = (memory: WasmMemory, shape: Shape): Kernels =>
  instantiate(
    wasmModule({
      round: round(shape),
      normalise,
      multiply: multiply(shape, 'plain'),
      multiplyPositive: multiply(shape, 'positive'),
      multiplyOnto: multiply(shape, 'onto'),
      mix: mix(shape, 4, 2),
      mixRow: mix(shape, 1, 8),
      transpose,
      softmax,
    } satisfies Record<keyof Kernels, WasmFunction>),
    memory,
  ) as Kernels;
