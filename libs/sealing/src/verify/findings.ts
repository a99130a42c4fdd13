import { type Finding, MOST_LISTED } from './verification';

/**
 * Collects findings: lists the first ones, counts all, and reports an event that is missing in one place and inserted
 * in another as moved.
 */
export class Findings {
  private readonly listed: Finding[] = [];
  private readonly missing = new Map<string, Finding>();
  private count = 0;

  add(finding: Finding): void {
    const lost = finding.kind === 'inserted' && finding.id !== undefined ? this.missing.get(finding.id) : undefined;
    if (lost !== undefined)
      return this.replace(lost, {
        ...finding,
        ...lost,
        kind: 'reordered',
        detail: 'the event is far from where it was sealed',
      });
    this.count += 1;
    if (this.listed.length >= MOST_LISTED) return;
    this.listed.push(finding);
    if (finding.kind === 'missing' && finding.id !== undefined) this.missing.set(finding.id, finding);
  }

  /** In the order of the log, as far as it is known. */
  get list(): readonly Finding[] {
    return this.listed.toSorted((a, b) => (a.ordinal ?? Infinity) - (b.ordinal ?? Infinity));
  }

  get total(): number {
    return this.count;
  }

  private replace(old: Finding, finding: Finding): void {
    this.listed[this.listed.indexOf(old)] = finding;
  }
}
