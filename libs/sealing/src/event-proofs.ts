import type { EventLog, EventMac, MacCheck } from '@app/event-log';
import { type Clock, type EventCodec, isWrongExpectedRevision, type StoredEvent } from '@app/kernel';
import { LRUCache } from 'lru-cache';
import { isSealable } from './event-hash';
import { type SealHead, sealedEvents, signedText } from './seal';
import type { SealArchive } from './seal-archive';
import { isSignedBy, publicKeyOf, type SealKey } from './seal-key';
import type { SealedPlace } from './sealed-place';
import { type AcceptedTail, acceptedTail, recordUnproven, type UnprovenReason } from './unproven';

export interface ProofParts {
  readonly log: EventLog;
  readonly codec: EventCodec;
  readonly key: SealKey;
  readonly mac: EventMac;
  readonly clock: Clock;
}

const PAGE = 1_000;
const REMEMBERED_STREAMS = 50_000;

/** Tells which events may be sealed. Events are shown to it once, in log order. */
export class EventProofs {
  private readonly revisions = new LRUCache<string, number>({ max: REMEMBERED_STREAMS });

  constructor(
    /** Finds out whether an event is under a seal already. */
    private readonly archive: SealArchive,
    /** So many events without a valid MAC are accepted, before the first with one. */
    private accepted: number,
  ) {}

  /** `check`: the result of the event's MAC. `waiting` returns whether an id waits for a seal. */
  async of(
    event: Pick<StoredEvent, 'id' | 'stream' | 'revision'>,
    check: MacCheck,
    waiting: (id: string) => boolean,
  ): Promise<'proven' | 'accepted' | UnprovenReason> {
    if (check === 'absent' || check === 'wrong') {
      if (this.accepted === 0) return check === 'absent' ? 'no_mac' : 'wrong_mac';
      this.accepted -= 1;
      return 'accepted';
    }
    // Its MAC says where an event was appended, not whether it stands there again.
    if (event.revision <= (this.revisions.get(event.stream) ?? -1)) return 'repeated';
    if (check === 'unplaced' && (waiting(event.id) || (await this.isCopy(event)))) return 'repeated';
    this.accepted = 0;
    this.revisions.set(event.stream, event.revision);
    return 'proven';
  }

  /**
   * Whether an event with this id is sealed at another place. If it is sealed at this place, it is the event itself,
   * and another sealer was faster.
   */
  private async isCopy({ id, stream, revision }: Pick<StoredEvent, 'id' | 'stream' | 'revision'>): Promise<boolean> {
    const archived = await this.archive.overId(id);
    return (
      archived !== undefined &&
      !sealedEvents(archived.seal).some(
        (sealed) => sealed.id === id && sealed.stream === stream && sealed.revision === revision,
      )
    );
  }
}

/**
 * How many events after the last seal to seal without a valid MAC: the tail of a log of an earlier version, once,
 * recorded by an event. Only the signed seals can identify such a log: the last one is of this key and does not say
 * that its events carried MACs, or there is none. With `imported`, the tail is accepted whoever sealed the log, because
 * the import has verified it.
 */
export const acceptTail = async (
  parts: ProofParts,
  { last, position }: SealedPlace,
  imported: boolean,
): Promise<number> => {
  const { log, mac } = parts;
  const isOurs = last !== undefined && isSealedBy(parts.key, last);
  if (last !== undefined && (isOurs ? last.authenticated === true : !imported)) return 0;
  const after = last?.ordinal ?? 0;
  for (;;) {
    const current = await acceptedTail(log, mac);
    if (current !== undefined) return current.after <= after ? Math.max(0, current.after + current.events - after) : 0;
    const tail = await unprovenRun(log, mac, position);
    // A new log.
    if (last === undefined && tail.events === 0) return 0;
    try {
      await recordUnproven(
        parts,
        { type: 'UnprovenTailSealed', data: { after, ...tail, reason: imported ? 'import' : 'earlier_version' } },
        `tail/${parts.key.keyId}`,
      );
      return tail.events;
    } catch (error) {
      // Another sealer was first.
      if (!isWrongExpectedRevision(error)) throw error;
    }
  }
};

const isSealedBy = ({ keyId, publicKey }: SealKey, seal: SealHead): boolean =>
  seal.keyId === keyId && isSignedBy(publicKeyOf(publicKey), signedText(seal), seal.signature);

/** The events behind a position without a valid MAC, up to the first that has one. */
const unprovenRun = async (
  log: EventLog,
  mac: EventMac,
  position: SealedPlace['position'],
): Promise<Pick<AcceptedTail, 'events' | 'first' | 'last'>> => {
  let run: { events: number; first?: string; last?: string } = { events: 0 };
  for (let after = position; ;) {
    const page = await log.readAll({ after, limit: PAGE });
    for (const event of page.events.filter(isSealable)) {
      const check = mac.check(event);
      if (check === 'proven' || check === 'unplaced') return run;
      run = { events: run.events + 1, first: run.first ?? event.id, last: event.id };
    }
    if (page.end) return run;
    after = page.next;
  }
};
