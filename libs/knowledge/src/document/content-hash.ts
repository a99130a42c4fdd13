import { createHash } from 'node:crypto';

/** A body that is hashed while it is read; `hash` (SHA-256, hex) is right once it was read to its end. */
export const hashed = (body: Buffer | AsyncIterable<Buffer>): { readonly body: Buffer | AsyncIterable<Buffer>; readonly hash: () => string } => {
  const digest = createHash('sha256');
  if (Buffer.isBuffer(body)) return { body, hash: () => digest.update(body).digest('hex') };
  return { body: through(body, (piece) => digest.update(piece)), hash: () => digest.digest('hex') };
};

async function* through(body: AsyncIterable<Buffer>, seen: (piece: Buffer) => void): AsyncIterable<Buffer> {
  for await (const piece of body) {
    seen(piece);
    yield piece;
  }
}
