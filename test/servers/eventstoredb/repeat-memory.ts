/** Where an id was written last. */
export interface Written {
  readonly stream: string;
  readonly revision: number;
}

/** The server's own bound and its own reckoning of an entry (`BoundedCache` of its `IndexWriter`). */
const MOST_BYTES = 8 * 1024 * 1024;
const sizeOf = ({ stream }: Written): number => 28 + 2 * stream.length;

/**
 * The ids written lately: all that a server knows of repeats at `any` and `streamExists`. It lives in the server's
 * memory, so it ends with its process, and forgets the oldest when it is full.
 */
export class RepeatMemory {
  private readonly ids = new Map<string, Written>();
  private bytes = 0;

  get(id: string): Written | undefined {
    return this.ids.get(id);
  }

  put(id: string, written: Written): void {
    const before = this.ids.get(id);
    if (before !== undefined) this.bytes -= sizeOf(before);
    this.ids.set(id, written);
    this.bytes += sizeOf(written);
    for (const [oldest, entry] of this.ids) {
      if (this.bytes <= MOST_BYTES) return;
      this.ids.delete(oldest);
      this.bytes -= sizeOf(entry);
    }
  }

  clear(): void {
    this.ids.clear();
    this.bytes = 0;
  }
}
