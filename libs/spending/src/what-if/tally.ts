import { decimalAmount } from '@app/kernel';
import { z } from 'zod';

/** Calls, what they cost (decimal), and when the first of them began. */
export const callsAffected = z.object({
  calls: z.number().int().describe('The number of calls.'),
  cost: z.string().describe('What they cost, a decimal.'),
  firstAt: z.string().nullable().describe('When the first such call was made, ISO 8601 in UTC, or null.'),
});
export type CallsAffected = z.output<typeof callsAffected>;

/** Counts calls in the order in which they began. */
export class Tally {
  calls = 0;
  cost = 0n;
  private firstAt: string | null = null;

  add(at: string, cost: bigint): void {
    this.calls += 1;
    this.cost += cost;
    this.firstAt ??= at;
  }

  shown(): CallsAffected {
    return { calls: this.calls, cost: decimalAmount(this.cost), firstAt: this.firstAt };
  }
}

/** The tally of a key, begun where there is none. */
export const tallyOf = <Key>(tallies: Map<Key, Tally>, key: Key): Tally => {
  const known = tallies.get(key) ?? new Tally();
  tallies.set(key, known);
  return known;
};

/** What cost most comes first, then what happened more often. */
export const listed = <Key>(tallies: ReadonlyMap<Key, Tally>): (CallsAffected & { key: Key })[] =>
  [...tallies]
    .toSorted(([, a], [, b]) => (a.cost < b.cost ? 1 : a.cost > b.cost ? -1 : b.calls - a.calls))
    .map(([key, tally]) => ({ key, ...tally.shown() }));
