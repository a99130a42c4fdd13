import type { StoredEvent } from '@app/kernel';
import type { SealedEvent } from '../event-hash';
import { jsonOf } from '../json';
import { type Erasure, MOST_LISTED } from './verification';

/** What says that content was erased. */
const ERASURE_RECEIPT = 'ContentErased';

/** Receipts of erasures. They count only under a seal: anybody who can write to the store can write another. */
export class SealedErasures {
  /** The first `MOST_LISTED`. */
  readonly list: Erasure[] = [];
  total = 0;
  /** Met in the log, in front of the seal that lists them. */
  private readonly met = new Map<string, Erasure>();

  meet({ id, type, stream, revision, position, data }: StoredEvent): void {
    if (type === ERASURE_RECEIPT)
      this.met.set(id, { receiptId: id, stream, revision, position, receipt: jsonOf(data) });
  }

  /** The event that a seal lists is as it was sealed. */
  sealed({ id, stream }: SealedEvent): void {
    const erasure = this.met.get(id);
    if (erasure?.stream !== stream) return;
    this.met.delete(id);
    this.total += 1;
    if (this.list.length < MOST_LISTED) this.list.push(erasure);
  }
}
