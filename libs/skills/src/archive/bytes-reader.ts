import { RandomAccessReader } from 'yauzl';

/**
 * Reads bytes that are in memory, at once: that of the library comes back in a later turn of the loop, which for thousands of
 * entries takes as long as to inflate them.
 */
export class BytesReader extends RandomAccessReader {
  constructor(private readonly bytes: Buffer) {
    super();
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    if (position + length > this.bytes.length) return callback(new Error('there are not so many bytes'));
    this.bytes.copy(buffer, offset, position, position + length);
    callback(null);
  }
}
