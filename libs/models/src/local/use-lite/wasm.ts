// Encodings of the WebAssembly specification (core 3.0), of what the kernels use.

export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

/** What is used of it: the types of Node.js do not have it. */
declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object;
  readonly Instance: new (
    module: object,
    imports: Readonly<Record<string, Readonly<Record<string, WasmMemory>>>>,
  ) => { readonly exports: unknown };
};

/** Magic and version. */
const HEADER = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

/** Instructions that leave one value, or none for a statement. */
export type Code = readonly number[];
export type Type = keyof typeof TYPE;
const TYPE = { i32: 0x7f, f32: 0x7d, v128: 0x7b } as const;

/** A variable of a function: read by its code, written by `set`. */
export interface Variable {
  readonly get: Code;
  set(value: Code): Code;
}

export interface WasmFunction {
  readonly parameters: readonly number[];
  readonly locals: readonly number[];
  readonly body: Code;
}

/** A function of integer parameters without a result; `body` declares further variables by `local`. */
export const wasmFunction = (
  parameters: number,
  body: (parameters: readonly Variable[], local: (type: Type) => Variable) => Code,
): WasmFunction => {
  const locals: number[] = [];
  const local = (type: Type): Variable => variable(parameters + locals.push(TYPE[type]) - 1);
  const code = body(
    Array.from({ length: parameters }, (_, index) => variable(index)),
    local,
  );
  return { parameters: Array.from({ length: parameters }, () => TYPE.i32), locals, body: code };
};

/** A module that imports the memory `env.memory` and exports the functions by their names. */
export const wasmModule = (functions: Readonly<Record<string, WasmFunction>>): Uint8Array<ArrayBuffer> => {
  const all = Object.entries(functions);
  return Uint8Array.from([
    ...HEADER,
    ...section(
      1,
      all.map(([, { parameters }]) => [0x60, ...sized(parameters), 0]),
    ),
    ...section(2, [[...text('env'), ...text('memory'), 2, 0, 1]]),
    ...section(
      3,
      all.map((_, index) => unsigned(index)),
    ),
    ...section(
      7,
      all.map(([name], index) => [...text(name), 0, ...unsigned(index)]),
    ),
    ...section(
      10,
      all.map(([, { locals, body }]) => sized([...list(locals.map((type) => [1, type])), ...body, 0x0b])),
    ),
  ]);
};

export const integer = (value: number): Code => [0x41, ...signed(value)];
export const float = (value: number): Code => [0x43, ...new Uint8Array(Float32Array.of(value).buffer)];
export const zero: Code = [0xfd, 0x0c, ...new Uint8Array(16)];

const unary =
  (operation: Code) =>
  (value: Code): Code => [...value, ...operation];
const binary =
  (operation: Code) =>
  (a: Code, b: Code): Code => [...a, ...b, ...operation];
const ternary =
  (operation: Code) =>
  (a: Code, b: Code, c: Code): Code => [...a, ...b, ...c, ...operation];

export const i32 = { add: binary([0x6a]), mul: binary([0x6c]) };
export const f32 = {
  add: binary([0x92]),
  mul: binary([0x94]),
  div: binary([0x95]),
  sqrt: unary([0x91]),
  min: binary([0x96]),
  max: binary([0x97]),
  fromInteger: unary([0xb2]),
};

/** Vector instructions; not every runtime has the relaxed ones. */
export const vector = {
  add: binary(simd(0xe4)),
  sub: binary(simd(0xe5)),
  mul: binary(simd(0xe6)),
  /** Of numbers alone: one instruction, unlike those that care for what is none. */
  min: binary(simd(0xea)),
  max: binary(simd(0xeb)),
  splat: unary(simd(0x13)),
  lane: (value: Code, index: number): Code => [...value, ...simd(0x1f), index],
  fromIntegers: unary(simd(0xfa)),
  and: binary(simd(0x4e)),
  splatInteger: unary(simd(0x11)),
  addIntegers: binary(simd(0xae)),
  shiftLeft: binary(simd(0xab)),
  /** Of four 32-bit integers twice to eight of 16, and of those twice to sixteen of 8 bits. */
  narrow32: binary(simd(0x86)),
  narrow16: binary(simd(0x66)),
  /** 16-bit pairs, multiplied and added to 32-bit integers. */
  dotPairs: binary(simd(0xba)),
  /** `c` plus fours of signed bytes of `a` times those of `b`, which count as machines like where they need 8 bits. */
  relaxedDotFours: ternary(simd(0x113)),
  relaxedMultiplyAdd: ternary(simd(0x105)),
};

export const load = (address: Code, offset = 0): Code => [...address, ...simd(0), 0, ...unsigned(offset)];
/** Eight signed bytes as 16-bit integers. */
export const loadBytes = (address: Code, offset = 0): Code => [...address, ...simd(1), 0, ...unsigned(offset)];
/** One value of 32 bits in all four lanes. */
export const loadSplat = (address: Code, offset = 0): Code => [...address, ...simd(9), 0, ...unsigned(offset)];
export const store = (address: Code, value: Code, offset = 0): Code => [
  ...address,
  ...value,
  ...simd(11),
  0,
  ...unsigned(offset),
];
export const loadFloat = (address: Code, offset = 0): Code => [...address, 0x2a, 0, ...unsigned(offset)];
export const storeFloat = (address: Code, value: Code, offset = 0): Code => [
  ...address,
  ...value,
  0x38,
  0,
  ...unsigned(offset),
];

/** Does `body` at least once, then as often as `left`, less `step` each time, is above zero. */
export const loop = (left: Variable, step: number, ...body: readonly Code[]): Code => [
  0x03,
  0x40,
  ...body.flat(),
  ...left.set(i32.add(left.get, integer(-step))),
  ...left.get,
  ...integer(0),
  0x4a,
  0x0d,
  0,
  0x0b,
];

/** Adds `bytes` to an address. */
export const advance = (address: Variable, bytes: Code | number): Code =>
  address.set(i32.add(address.get, typeof bytes === 'number' ? integer(bytes) : bytes));

/** Memory for at least so many bytes. */
export const makeMemory = (bytes: number): WasmMemory => new WebAssembly.Memory({ initial: Math.ceil(bytes / 65_536) });

/** The functions of a module of `wasmModule`, on that memory. */
export const instantiate = (module: Uint8Array<ArrayBuffer>, memory: WasmMemory): unknown =>
  new WebAssembly.Instance(new WebAssembly.Module(module), { env: { memory } }).exports;

const variable = (index: number): Variable => ({
  get: [0x20, ...unsigned(index)],
  set: (value) => [...value, 0x21, ...unsigned(index)],
});

function simd(operation: number): Code {
  return [0xfd, ...unsigned(operation)];
}

function unsigned(value: number): Code {
  const out: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest >>>= 7) out.push((rest & 0x7f) | 0x80);
  return [...out, rest];
}

const signed = (value: number): Code => {
  const out: number[] = [];
  let rest = value;
  for (; rest < -64 || rest > 63; rest >>= 7) out.push((rest & 0x7f) | 0x80);
  return [...out, rest & 0x7f];
};

const list = (items: readonly Code[]): Code => [...unsigned(items.length), ...items.flat()];
const sized = (bytes: Code): Code => [...unsigned(bytes.length), ...bytes];
const text = (value: string): Code => sized([...Buffer.from(value)]);
const section = (id: number, items: readonly Code[]): Code => [id, ...sized(list(items))];
