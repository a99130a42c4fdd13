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

  /** Tells which ids they have, each asked about once, from the least to the greatest. */
  ascending(): (id: number) => boolean {
    const { firsts, ends } = this;
    let at = 0;
    return (id) => {
      while (at < ends.length && (ends[at] as number) <= id) at += 1;
      return at < ends.length && (firsts[at] as number) <= id;
    };
  }
}
