import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { DataKey } from '@app/kernel';
import { BlobDamaged, type BlobName } from './blobs';

/**
 * A stored body is a header (magic 4 bytes, salt 16 bytes) and frames of 64 KiB of plaintext, each AES-256-GCM with its tag
 * behind it. The key of the body is derived from the aggregate's key and the salt; a frame's nonce is its number and whether it
 * is the last, so that no frame can be dropped, moved or added; the blob's name is authenticated with each.
 */
const MAGIC = Buffer.from('BLB1');
const SALT_BYTES = 16;
const TAG_BYTES = 16;
export const FRAME_BYTES = 64 * 1024;
const HEADER_BYTES = MAGIC.length + SALT_BYTES;
const STORED_FRAME_BYTES = FRAME_BYTES + TAG_BYTES;

/** Encrypts a body as it arrives; never holds more than a frame and what the body hands over at once. */
export async function* encryptBody(
  key: DataKey,
  name: BlobName,
  body: AsyncIterable<Buffer> | Iterable<Buffer>,
): AsyncGenerator<Buffer> {
  const salt = randomBytes(SALT_BYTES);
  const bodyKey = bodyKeyOf(key, salt);
  yield Buffer.concat([MAGIC, salt]);
  let held: Buffer = Buffer.alloc(0);
  let frame = 0;
  for await (const piece of body) {
    held = held.length === 0 ? piece : Buffer.concat([held, piece]);
    for (; held.length > FRAME_BYTES; held = held.subarray(FRAME_BYTES))
      yield seal(bodyKey, name, frame++, false, held.subarray(0, FRAME_BYTES));
  }
  yield seal(bodyKey, name, frame, true, held);
}

/** As `encryptBody`, a body of one frame at once. */
export const encryptSmall = (key: DataKey, name: BlobName, body: Buffer): readonly Buffer[] => {
  const salt = randomBytes(SALT_BYTES);
  return [MAGIC, salt, ...sealed(bodyKeyOf(key, salt), name, 0, true, body)];
};

/** A body as it is stored, read part by part. A part that is gone by now reads as empty. */
export interface StoredBytes {
  readonly size: number;
  /** Bytes that are read at once, about. */
  readonly stride: number;
  read(start: number, end: number): Promise<Buffer>;
}

/** Bytes of the body that is stored in so many. Throws `BlobDamaged` for fewer than any body has. */
export const plainSize = (name: BlobName, { size }: StoredBytes): number => {
  if (size < HEADER_BYTES + TAG_BYTES) throw new BlobDamaged(name, `its ${size} bytes have no header`);
  return size - HEADER_BYTES - TAG_BYTES * Math.ceil((size - HEADER_BYTES) / STORED_FRAME_BYTES);
};

/** The body back, frame by frame, read as it is asked for: what is handed over is proven, the end with the last frame. Throws `BlobDamaged`. */
export async function* decryptBody(key: DataKey, name: BlobName, stored: StoredBytes): AsyncGenerator<Buffer> {
  const header = await stored.read(0, HEADER_BYTES);
  if (header.length < HEADER_BYTES || !header.subarray(0, MAGIC.length).equals(MAGIC))
    throw new BlobDamaged(name, `its ${stored.size} bytes have no header`);
  const bodyKey = bodyKeyOf(key, header.subarray(MAGIC.length));
  const stride = STORED_FRAME_BYTES * Math.max(1, Math.floor(stored.stride / STORED_FRAME_BYTES));
  let frame = 0;
  for (let start = HEADER_BYTES; start < stored.size; start += stride) {
    const end = Math.min(start + stride, stored.size);
    const piece = await stored.read(start, end);
    if (piece.length < end - start) throw new BlobDamaged(name, 'it ends early');
    for (let at = 0; at < piece.length; at += STORED_FRAME_BYTES, frame += 1) {
      const last = end === stored.size && at + STORED_FRAME_BYTES >= piece.length;
      yield open(bodyKey, name, frame, last, piece.subarray(at, at + STORED_FRAME_BYTES));
    }
  }
}

const bodyKeyOf = (key: DataKey, salt: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', key, salt, 'agent-platform/blob/1', 32));

const nonceOf = (frame: number, last: boolean): Buffer => {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32BE(frame, 0);
  nonce.writeUInt8(last ? 1 : 0, 11);
  return nonce;
};

const seal = (...given: Parameters<typeof sealed>): Buffer => Buffer.concat(sealed(...given));

/** A frame as it is stored, in pieces. */
const sealed = (key: Buffer, name: BlobName, frame: number, last: boolean, plain: Buffer): readonly Buffer[] => {
  const cipher = createCipheriv('aes-256-gcm', key, nonceOf(frame, last)).setAAD(Buffer.from(name));
  return [cipher.update(plain), cipher.final(), cipher.getAuthTag()];
};

const open = (key: Buffer, name: BlobName, frame: number, last: boolean, stored: Buffer): Buffer => {
  if (stored.length < TAG_BYTES) throw new BlobDamaged(name, `frame ${frame} ends early`);
  const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(frame, last)).setAAD(Buffer.from(name));
  decipher.setAuthTag(stored.subarray(stored.length - TAG_BYTES));
  try {
    const plain = decipher.update(stored.subarray(0, stored.length - TAG_BYTES));
    decipher.final();
    return plain;
  } catch (error) {
    throw new BlobDamaged(name, `frame ${frame} is not what was stored, or the body ends early`, { cause: error });
  }
};
