/** Pieces that are joined at once. */
const JOINED = 1_024;
const BLOCK_BYTES = 64 * 1024;

/**
 * Bytes that arrive in pieces of any size. A piece is an object of some hundred bytes, so a megabyte that arrives byte
 * by byte would take hundreds of megabytes.
 */
export class GatheredBytes {
  private readonly joined: Buffer[] = [];
  private pieces: Buffer[] = [];
  private bytes = 0;

  get length(): number {
    return this.bytes;
  }

  add(piece: Buffer): void {
    this.bytes += piece.length;
    this.pieces.push(piece);
    if (this.pieces.length < JOINED) return;
    this.joined.push(Buffer.concat(this.pieces));
    this.pieces = [];
  }

  /** All of them, in a buffer of their own. */
  whole(): Buffer {
    return Buffer.concat([...this.joined, ...this.pieces], this.bytes);
  }
}

/**
 * The same bytes in pieces of 64 KiB, the last one shorter: handling a piece takes the same time for one byte as for 64
 * KiB.
 */
export async function* inBlocks(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  let filled = 0;
  for await (const piece of pieces)
    for (let from = 0; from < piece.length;) {
      const taken = piece.copy(block, filled, from);
      from += taken;
      filled += taken;
      if (filled < BLOCK_BYTES) continue;
      yield block;
      [block, filled] = [Buffer.allocUnsafeSlow(BLOCK_BYTES), 0];
    }
  if (filled > 0) yield block.subarray(0, filled);
}
