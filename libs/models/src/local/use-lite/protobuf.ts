/** A field of a protobuf message, encoded. */
export type Field = Buffer;

/** Wire type 0: an integer or an enum. */
export const integer = (field: number, value: number): Field => Buffer.concat([varint(field << 3), varint(value)]);

/** Wire type 2: bytes, a text, or a message given by its fields. */
export const bytes = (field: number, value: string | Uint8Array | readonly Field[]): Field => {
  const body =
    typeof value === 'string' ? Buffer.from(value) : value instanceof Uint8Array ? value : Buffer.concat(value);
  return Buffer.concat([varint((field << 3) | 2), varint(body.length), body]);
};

/** Wire type 5: a 32-bit float. */
export const float = (field: number, value: number): Field => {
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
