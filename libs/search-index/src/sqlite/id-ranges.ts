/** Sets of ids that follow one another. */
export class IdRanges {
  private readonly firsts: Float64Array;
  private readonly ends: Float64Array;

  /** Ranges that do not overlap, in any order. */
  constructor(ranges: readonly { readonly first: number; readonly count: number }[]) {
    const ordered = ranges.toSorted((a, b) => a.first - b.first);
    this.firsts = Float64Array.from(ordered, ({ first }) => first);
    this.ends = Float64Array.from(ordered, ({ first, count }) => first + count);
  }

  has(id: number): boolean {
    let low = 0;
    let high = this.firsts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.firsts[middle] as number) <= id) low = middle + 1;
      else high = middle;
    }
    return low > 0 && id < (this.ends[low - 1] as number);
  }
}
