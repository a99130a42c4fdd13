// Field numbers and enums of onnx.proto3 (ONNX IR version 8).
const DATA_TYPE = { float: 1, int8: 3, int64: 7 } as const;
const ATTRIBUTE_TYPE = { float: 1, int: 2, ints: 7 } as const;

type Attribute = number | { readonly float: number } | readonly number[];

/** Builds an ONNX graph: each call adds a node or a constant and answers the name of its result. */
export class OnnxGraph {
  private readonly nodes: Field[] = [];
  private readonly constants: Field[] = [];
  private readonly inputs: Field[] = [];
  private names = 0;

  input(name: string, type: keyof typeof DATA_TYPE, dimensions: readonly (string | number)[]): string {
    this.inputs.push(valueInfo(11, name, type, dimensions));
    return name;
  }

  /** A constant tensor; its data are little-endian, as ONNX stores them. */
  constant(shape: readonly number[], data: Float32Array | Int8Array | BigInt64Array): string {
    const name = this.fresh('c');
    const type =
      data instanceof Float32Array ? DATA_TYPE.float : data instanceof Int8Array ? DATA_TYPE.int8 : DATA_TYPE.int64;
    const raw = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    this.constants.push(
      bytes(5, [...shape.map((size) => integer(1, size)), integer(2, type), bytes(8, name), bytes(9, raw)]),
    );
    return name;
  }

  number(value: number): string {
    return this.constant([], Float32Array.of(value));
  }

  integers(...values: readonly number[]): string {
    return this.constant([values.length], BigInt64Array.from(values.map(BigInt)));
  }

  node(operator: string, inputs: readonly string[], attributes: Readonly<Record<string, Attribute>> = {}): string {
    return this.nodeOf(1, operator, inputs, attributes)[0] as string;
  }

  /** A node with several results. */
  nodeOf(
    outputs: number,
    operator: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, Attribute>> = {},
  ): readonly string[] {
    const names = Array.from({ length: outputs }, () => this.fresh('n'));
    this.nodes.push(
      bytes(1, [
        ...inputs.map((input) => bytes(1, input)),
        ...names.map((name) => bytes(2, name)),
        bytes(4, operator),
        ...Object.entries(attributes).map(([name, value]) => bytes(5, attribute(name, value))),
      ]),
    );
    return names;
  }

  /** The model file with one float output, under `name` if that is given. */
  model(output: string, dimensions: readonly (string | number)[], name = output): Buffer {
    const renamed = bytes(1, [bytes(1, output), bytes(2, name), bytes(4, 'Identity')]);
    const graph = [
      ...this.nodes,
      ...(name === output ? [] : [renamed]),
      bytes(2, 'encoder'),
      ...this.constants,
      ...this.inputs,
      valueInfo(12, name, 'float', dimensions),
    ];
    const operators = [bytes(1, ''), integer(2, 17)];
    return Buffer.concat([integer(1, 8), bytes(7, graph), bytes(8, operators)]);
  }

  private fresh(prefix: string): string {
    this.names += 1;
    return `${prefix}${this.names}`;
  }
}

const attribute = (name: string, value: Attribute): Field[] => {
  if (typeof value === 'number') return [bytes(1, name), integer(3, value), integer(20, ATTRIBUTE_TYPE.int)];
  if ('float' in value) return [bytes(1, name), float(2, value.float), integer(20, ATTRIBUTE_TYPE.float)];
  return [bytes(1, name), ...value.map((item) => integer(8, item)), integer(20, ATTRIBUTE_TYPE.ints)];
};

const valueInfo = (
  field: number,
  name: string,
  type: keyof typeof DATA_TYPE,
  dimensions: readonly (string | number)[],
): Field => {
  const shape = dimensions.map((size) => bytes(1, [typeof size === 'number' ? integer(1, size) : bytes(2, size)]));
  return bytes(field, [bytes(1, name), bytes(2, [bytes(1, [integer(1, DATA_TYPE[type]), bytes(2, shape)])])]);
};

/** A field of a protobuf message, encoded. */
type Field = Buffer;

/** Wire type 0: an integer or an enum. */
const integer = (field: number, value: number): Field => Buffer.concat([varint(field << 3), varint(value)]);

/** Wire type 2: bytes, a text, or a message given by its fields. */
const bytes = (field: number, value: string | Uint8Array | readonly Field[]): Field => {
  const body =
    typeof value === 'string' ? Buffer.from(value) : value instanceof Uint8Array ? value : Buffer.concat(value);
  return Buffer.concat([varint((field << 3) | 2), varint(body.length), body]);
};

/** Wire type 5: a 32-bit float. */
const float = (field: number, value: number): Field => {
  const body = Buffer.alloc(4);
  body.writeFloatLE(value);
  return Buffer.concat([varint((field << 3) | 5), body]);
};

const varint = (value: number): Buffer => {
  const out: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 0x7fn; rest >>= 7n) out.push(Number(rest & 0x7fn) | 0x80);
  out.push(Number(rest));
  return Buffer.from(out);
};
