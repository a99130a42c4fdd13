/** Characters that are joined at once. */
const JOINED = 1_024;

/**
 * A text that comes in pieces. A string that grows by adding holds each piece as an object until it is read, and is copied whole when
 * a part of it is taken: with hundreds of long answers at once that is most of what garbage collection goes through. So pieces are
 * joined by the kilobyte, and a part of the end costs no more than the end.
 */
export class GatheredText {
  private pieces: string[] = [];
  private end = '';

  /** `kept`: characters of the end that are kept in pieces at least. */
  constructor(
    private start = '',
    private readonly kept = 0,
  ) {}

  get length(): number {
    return this.start.length + this.end.length;
  }

  get text(): string {
    return this.start + this.end;
  }

  add(piece: string): void {
    this.pieces.push(piece);
    this.end += piece;
    if (this.end.length > this.kept + JOINED) this.join();
  }

  /** The characters from one place up to another. */
  slice(from: number, to: number): string {
    const { length } = this.start;
    if (from < length) return this.text.slice(from, to);
    const last = this.pieces.at(-1) ?? '';
    return to === this.length && from === to - last.length
      ? last
      : this.pieces.join('').slice(from - length, to - length);
  }

  private join(): void {
    let [count, left] = [0, this.end.length];
    for (const { length } of this.pieces) {
      if (left - length < this.kept) break;
      left -= length;
      count += 1;
    }
    this.start += this.pieces.splice(0, count).join('');
    this.end = this.pieces.join('');
  }
}
