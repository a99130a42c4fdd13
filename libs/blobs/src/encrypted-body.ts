import { beforeWork, type KeyOwner, type Keyring } from '@app/kernel';
import { decryptBody, encryptBody, encryptSmall, FRAME_BYTES, plainSize, type StoredBytes } from './blob-cipher';
import { type BlobName, newBlobName, type OpenBody, type PutBody } from './blobs';

/** Encrypts a body under the aggregate's key, which is made when it is missing, and has it written under a new name. `size` is that of the plaintext. */
export const storeBody = async (
  vault: Keyring,
  stream: string,
  body: Buffer | AsyncIterable<Buffer>,
  owner: KeyOwner,
  write: (name: BlobName, pieces: AsyncIterable<Buffer> | Iterable<Buffer>) => Promise<void>,
  beside?: BlobName,
): Promise<PutBody> => {
  const key = await beforeWork(() => vault.ensureKey(stream, owner));
  const name = newBlobName(beside);
  if (Buffer.isBuffer(body) && body.length <= FRAME_BYTES) {
    await write(name, encryptSmall(key, name, body));
    return { name, size: body.length };
  }
  const counter = { size: 0 };
  await write(name, encryptBody(key, name, counted(Buffer.isBuffer(body) ? [body] : body, counter)));
  return { name, size: counter.size };
};

/** The body, its beginning proven; undefined where the key or what is stored is gone. Throws `BlobDamaged`. */
export const openBody = async (
  vault: Keyring,
  stream: string,
  name: BlobName,
  find: (name: BlobName) => Promise<StoredBytes | undefined>,
): Promise<OpenBody | undefined> => {
  const key = (await vault.keys([stream])).get(stream);
  if (key === undefined) return undefined;
  const stored = await find(name);
  if (stored === undefined) return undefined;
  const size = plainSize(name, stored);
  const frames = decryptBody(key, name, stored);
  const first = await frames.next().catch(async (error: unknown) => {
    // What is removed before its first bytes are read looks like damage, and is none.
    if ((await find(name)) === undefined) return undefined;
    throw error;
  });
  return first && { size, pieces: behind(first, frames) };
};

/** The whole body at once. Throws `BlobDamaged`. */
export const wholeBody = async (body: OpenBody | undefined): Promise<Buffer | undefined> => {
  if (body === undefined) return undefined;
  const pieces: Buffer[] = [];
  for await (const piece of body.pieces) pieces.push(piece);
  return Buffer.concat(pieces, body.size);
};

async function* behind(first: IteratorResult<Buffer>, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}

/** The same body, its bytes counted as they pass. */
async function* counted(
  body: AsyncIterable<Buffer> | Iterable<Buffer>,
  counter: { size: number },
): AsyncGenerator<Buffer> {
  for await (const piece of body) {
    counter.size += piece.length;
    yield piece;
  }
}
