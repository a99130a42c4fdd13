import type { StoredEvent } from '@app/kernel';
import { contentHash, type SealedEvent } from '../event-hash';
import { REMOVAL_STREAM, removalReceipt, type RemovalReceipt } from '../removal';
import type { RemovedEvents } from './verification';

interface AbsentEvent {
  readonly ordinal: number;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
}

/** What a receipt says, and the events that are gone by it alone. */
interface Claim {
  readonly receipt: RemovalReceipt;
  isSealed: boolean;
  events: number;
  first: AbsentEvent | undefined;
  last: AbsentEvent | undefined;
}

/** Events that are gone by a receipt that no seal proves. */
export interface UnprovenRemoval {
  readonly receipt: RemovalReceipt;
  readonly events: number;
  readonly first: AbsentEvent;
  readonly last: AbsentEvent;
}

/**
 * The removals that receipts claim. Anybody who can write to the log can append a receipt, so one counts only once
 * its event was found under a seal, usually long after the events that it removed.
 */
export class ClaimedRemovals {
  /** By stream, the furthest last. */
  private readonly byStream = new Map<string, Claim[]>();
  private readonly byEvent = new Map<string, Claim>();

  constructor(receipts: readonly StoredEvent[]) {
    for (const event of receipts) this.add(event);
    for (const claims of this.byStream.values())
      claims.sort((a, b) => a.receipt.beforeRevision - b.receipt.beforeRevision);
  }

  /** True for an absent event that a receipt explains, should that be sealed. */
  explains(absent: AbsentEvent): boolean {
    const claim = this.byStream.get(absent.stream)?.find(({ receipt }) => absent.revision < receipt.beforeRevision);
    if (claim === undefined) return false;
    claim.events += 1;
    claim.first ??= absent;
    claim.last = absent;
    return true;
  }

  /** An event of the log is as a seal lists it. */
  sealed(entry: SealedEvent): void {
    const claim = entry.stream === REMOVAL_STREAM ? this.byEvent.get(keyOf(entry)) : undefined;
    if (claim !== undefined) claim.isSealed = true;
  }

  /** What was removed rightfully, each stream by its furthest sealed receipt. */
  get proven(): readonly RemovedEvents[] {
    return [...this.byStream.values()].flatMap((claims) => {
      const furthest = claims.findLastIndex(({ isSealed }) => isSealed);
      const events = claims.slice(0, furthest + 1).reduce((sum, claim) => sum + claim.events, 0);
      return events === 0 ? [] : [{ ...(claims[furthest] as Claim).receipt, events }];
    });
  }

  /** What is gone by receipts that are not sealed. */
  get unproven(): readonly UnprovenRemoval[] {
    return [...this.byStream.values()].flatMap((claims) =>
      claims.slice(claims.findLastIndex(({ isSealed }) => isSealed) + 1).filter(isUsed),
    );
  }

  private add(event: StoredEvent): void {
    const receipt = removalReceipt(event);
    if (receipt === undefined) return;
    const claim: Claim = { receipt, isSealed: false, events: 0, first: undefined, last: undefined };
    const claims = this.byStream.get(receipt.stream);
    if (claims === undefined) this.byStream.set(receipt.stream, [claim]);
    else claims.push(claim);
    this.byEvent.set(keyOf({ id: event.id, revision: event.revision, content: contentHash(event) }), claim);
  }
}

const keyOf = ({ id, revision, content }: Pick<SealedEvent, 'id' | 'revision' | 'content'>): string =>
  `${id} ${revision} ${content}`;

const isUsed = (claim: Claim): claim is Claim & UnprovenRemoval => claim.first !== undefined;
