import { instantiate, load, makeMemory, store, type Variable, vector, wasmFunction, wasmModule, zero } from './wasm';

/** What there is of the relaxed vector instructions, which not every runtime has and machines do differently. */
export interface Relaxed {
  readonly multiplyAdd: boolean;
  /** Whether the product of bytes takes the second ones for unsigned, and gives exact sums of them all. */
  readonly dotUnsigned: boolean;
}

const LEAST = -127;
const MOST = 255;

export const relaxedInstructions = (): Relaxed => {
  try {
    const memory = makeMemory(64);
    const module = wasmModule({
      multiplyAdd: wasmFunction(1, ([at]) => store((at as Variable).get, vector.relaxedMultiplyAdd(zero, zero, zero))),
      dot: wasmFunction(3, (parameters) => {
        const [a, b, to] = parameters as [Variable, Variable, Variable];
        return store(to.get, vector.relaxedDotFours(load(a.get), load(b.get), zero));
      }),
    });
    const { dot } = instantiate(module, memory) as { dot(a: number, b: number, to: number): void };
    const sums = new Int32Array(memory.buffer, 32, 4);
    new Int8Array(memory.buffer, 0, 16).fill(LEAST);
    new Uint8Array(memory.buffer, 16, 16).fill(MOST);
    dot(0, 16, 32);
    return { multiplyAdd: true, dotUnsigned: sums.every((sum) => sum === 4 * LEAST * MOST) };
  } catch (error) {
    if (error instanceof Error && error.name === 'CompileError') return { multiplyAdd: false, dotUnsigned: false };
    throw error;
  }
};
