/** Where time enters the system: injected, so that deciders, projections and tests never read the machine's clock. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** A clock for tests that moves only when told to. */
export class FixedClock implements Clock {
  constructor(private time = new Date('2026-01-01T00:00:00.000Z')) {}

  now(): Date {
    return new Date(this.time);
  }

  advance(milliseconds: number): void {
    this.time = new Date(this.time.getTime() + milliseconds);
  }
}
