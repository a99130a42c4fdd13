import { z } from 'zod';
import { localDay } from '../windows';
import { addUsage, noUsage, shownSums, type UsageSums, usageSums } from './usage-sums';

/** What a usage report can be grouped by. */
export const usageGrouping = z.enum(['day', 'model', 'user', 'apiKey']);
export type UsageGrouping = z.output<typeof usageGrouping>;

/** A group of a report; `key` is a day (`2026-11-21`), a model's key or an id, null for calls without an API key. */
export const usageItem = z.object({
  key: z.string().nullable().describe('The day, model, user or API key; null for calls without one.'),
  ...usageSums.shape,
});
export type UsageItem = z.output<typeof usageItem>;

/** Calls that have all of this in common; `at` is of the day that they began in. */
export interface UsagePart {
  readonly at: string;
  readonly model: string;
  readonly userId: string;
  readonly apiKeyId: string | null;
  readonly currency: string;
  readonly sums: Readonly<UsageSums>;
}

const QUARTER_MS = 15 * 60_000;
const DAY_MS = 24 * 4 * QUARTER_MS;

/** The start of the span of this many milliseconds that contains a time. Spans are counted from 1970 in UTC. */
export const spanOf = (at: string, span: number): string =>
  new Date(Math.floor(Date.parse(at) / span) * span).toISOString();

/**
 * Sums calls by group. Calls that were billed in an earlier currency of the instance are left out: amounts in two
 * currencies have no sum.
 */
export class UsageReport {
  private readonly groups = new Map<string | null, UsageSums>();
  /** Days by quarter of an hour: the midnights of all time zones fall on one. */
  private readonly days = new Map<number, string>();

  constructor(
    private readonly groupBy: UsageGrouping,
    private readonly currency: string,
    private readonly timeZone: string,
  ) {}

  add(part: UsagePart): void {
    if (part.currency !== this.currency) return;
    const key = this.keyOf(part);
    let sums = this.groups.get(key);
    if (sums === undefined) this.groups.set(key, (sums = noUsage()));
    addUsage(sums, part.sums);
  }

  /** Days in their order, all else by cost, the highest first. */
  items(): UsageItem[] {
    const byKey = [...this.groups].toSorted(([a], [b]) => compared(a ?? '', b ?? ''));
    const sorted = this.groupBy === 'day' ? byKey : byKey.toSorted(([, a], [, b]) => compared(b.cost, a.cost));
    return sorted.map(([key, sums]) => ({ key, ...shownSums(sums) }));
  }

  totals(): UsageSums {
    const totals = noUsage();
    for (const sums of this.groups.values()) addUsage(totals, sums);
    return totals;
  }

  private keyOf({ at, model, userId, apiKeyId }: UsagePart): string | null {
    switch (this.groupBy) {
      case 'day':
        return this.dayOf(Date.parse(at));
      case 'model':
        return model;
      case 'user':
        return userId;
      case 'apiKey':
        return apiKeyId;
    }
  }

  private dayOf(at: number): string {
    const quarter = Math.floor(at / QUARTER_MS);
    let day = this.days.get(quarter);
    if (day === undefined)
      this.days.set(quarter, (day = new Date(localDay(this.timeZone, at) * DAY_MS).toISOString().slice(0, 10)));
    return day;
  }
}

const compared = <T extends string | bigint>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);
