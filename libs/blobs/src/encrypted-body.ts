import type { KeyOwner, Keyring } from '@app/kernel';
import { decryptBody, encryptBody } from './blob-cipher';
import { newBlobName } from './blob-name';
import type { BlobName } from './blobs';

/** Encrypts a body under the thing's key, which is made when it is missing, and has it written under a new name. `size` is that of the plaintext. */
export const storeBody = async (vault: Keyring, thing: string, body: Buffer | AsyncIterable<Buffer>, owner: KeyOwner, write: (name: BlobName, pieces: AsyncIterable<Buffer>) => Promise<void>): Promise<{ name: BlobName; size: number }> => {
  const key = await vault.ensureKey(thing, owner);
  const name = newBlobName();
  const counter = { size: 0 };
  await write(name, encryptBody(key, name, counted(Buffer.isBuffer(body) ? [body] : body, counter)));
  return { name, size: counter.size };
};

/** The body back; undefined where the key or what is stored is gone. Throws `BlobDamaged`. */
export const loadBody = async (vault: Keyring, thing: string, name: BlobName, read: (name: BlobName) => Promise<Buffer | undefined>): Promise<Buffer | undefined> => {
  const key = (await vault.keys([thing])).get(thing);
  if (key === undefined) return undefined;
  const stored = await read(name);
  return stored === undefined ? undefined : decryptBody(key, name, stored);
};

/** The same body, its bytes counted as they pass. */
async function* counted(body: AsyncIterable<Buffer> | Iterable<Buffer>, counter: { size: number }): AsyncGenerator<Buffer> {
  for await (const piece of body) {
    counter.size += piece.length;
    yield piece;
  }
}
