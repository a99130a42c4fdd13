import type { Position } from '@app/kernel';

const REMEMBERED = 1_000;

/** Tells a repeated delivery from one that comes too late: remembers what was handled last. */
export class HandledPositions {
  private readonly recent = new Set<Position>();

  /** `floor`: up to here everything counts as handled. */
  constructor(private floor: Position | null) {}

  add(position: Position): void {
    this.recent.add(position);
    if (this.recent.size <= REMEMBERED) return;
    const oldest = this.recent.values().next().value as Position;
    this.recent.delete(oldest);
    this.floor = oldest;
  }

  has(position: Position): boolean {
    return (this.floor !== null && position <= this.floor) || this.recent.has(position);
  }
}
