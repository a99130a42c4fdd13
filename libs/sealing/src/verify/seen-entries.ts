import { hash } from 'node:crypto';
import type { SealedEvent } from '../event-hash';

const FIRST_SLOTS = 1 << 12;

/**
 * The events that seals have listed so far, to find duplicates: 64 bits of a hash of each, because a log may be long.
 * 16 to 32 bytes per event.
 */
export class SeenEntries {
  private slots = new BigUint64Array(FIRST_SLOTS);
  private count = 0;

  /** False for one that was added before. */
  add({ id, revision, stream }: Pick<SealedEvent, 'id' | 'revision' | 'stream'>): boolean {
    if (this.count * 2 >= this.slots.length) this.grow();
    const print = hash('sha256', `${id} ${revision} ${stream}`, 'buffer').readBigUInt64LE() || 1n;
    if (!place(this.slots, print)) return false;
    this.count += 1;
    return true;
  }

  private grow(): void {
    const larger = new BigUint64Array(this.slots.length * 2);
    for (const print of this.slots) if (print !== 0n) place(larger, print);
    this.slots = larger;
  }
}

/** Linear probing; 0 is an empty slot. */
const place = (slots: BigUint64Array, print: bigint): boolean => {
  const mask = slots.length - 1;
  for (let at = Number(print & 0xffff_ffffn) & mask; ; at = (at + 1) & mask) {
    if (slots[at] === print) return false;
    if (slots[at] !== 0n) continue;
    slots[at] = print;
    return true;
  }
};
