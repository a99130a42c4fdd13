import { crc32, deflateRawSync } from 'node:zlib';

/** An entry as it is written, true or not. */
export interface ZipEntry {
  readonly name: string;
  readonly body: Buffer;
  /** What the directory says of the inflated size; true by default. */
  readonly size?: number;
  /** What is stored in place of the deflated body. */
  readonly deflated?: Buffer;
  readonly flags?: number;
  readonly method?: number;
  /** Stands where the entry of this index does. */
  readonly overlaps?: number;
}

/** A zip file byte by byte, so that it may lie. `count`: what its end says of the number of entries. */
export const zipBytes = (entries: readonly ZipEntry[], count = entries.length): Buffer => {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  const offsets: number[] = [];
  let offset = 0;
  for (const {
    name,
    body,
    size = body.length,
    deflated = deflateRawSync(body),
    flags = 0,
    method = 8,
    overlaps,
  } of entries) {
    const label = Buffer.from(name);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(flags, 2);
    fields.writeUInt16LE(method, 4);
    fields.writeUInt32LE(crc32(body), 10);
    fields.writeUInt32LE(deflated.length, 14);
    fields.writeUInt32LE(size, 18);
    fields.writeUInt16LE(label.length, 22);
    const at = overlaps === undefined ? offset : (offsets[overlaps] ?? 0);
    offsets.push(at);
    if (overlaps === undefined) {
      const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), fields, label, deflated]);
      parts.push(local);
      offset += local.length;
    }
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    directory.push(Buffer.concat([Buffer.from('PK\u0001\u0002\u0014\0', 'latin1'), fields, tail, label]));
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 'latin1');
  end.writeUInt16LE(count & 0xffff, 8);
  end.writeUInt16LE(count & 0xffff, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, listed, end]);
};
