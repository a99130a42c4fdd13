import { LogCorrupted, type LogReader } from '@app/event-log';
import type { Position, StoredEvent } from '@app/kernel';
import { jsonOf } from './json';
import { isSealable, SEAL_STREAM } from './event-hash';
import { headOf, LogSealed, type Seal, sealedId, type SealHead } from './seal';

/** How far the log is sealed, as the log itself says. */
export interface SealedPlace {
  readonly last: SealHead | undefined;
  /** Revision of the last seal, -1 before the first. */
  readonly revision: number;
  /** Position of the last sealed event that still exists; the next events are to be sealed. */
  readonly position: Position | null;
}

/** Throws `LogCorrupted` if the event is not a valid seal: nobody with the key wrote it. */
export const sealOf = (event: StoredEvent): Seal => {
  const seal = readableSealOf(event);
  if (seal === undefined) throw new LogCorrupted(`${event.stream}@${event.revision}`, 'it is no seal');
  return seal;
};

/** Undefined for what is no seal. */
export const readableSealOf = (event: StoredEvent): Seal | undefined =>
  LogSealed.data.safeParse(jsonOf(event.data)).data;

/** The id of the key that signed the last seal; undefined where there is none that can be read. */
export const lastSigner = async (log: Pick<LogReader, 'readStream'>): Promise<string | undefined> => {
  const [event] = await log.readStream(SEAL_STREAM, { direction: 'backwards', limit: 1 });
  return event === undefined ? undefined : readableSealOf(event)?.keyId;
};

const PAGE = 500;

/**
 * Finds the place by the ids in the seals, not by recorded positions, which another log would not share. It reads back
 * from the last seal until it finds an event of one of the seals on the way. That is usually one page, however many
 * events wait for a seal.
 */
export const readSealedPlace = async (log: LogReader): Promise<SealedPlace> => {
  const [event] = await log.readStream(SEAL_STREAM, { direction: 'backwards', limit: 1 });
  if (event === undefined) return { last: undefined, revision: -1, position: null };
  return { last: headOf(sealOf(event)), revision: event.revision, position: await lastSealedPosition(log, event) };
};

const lastSealedPosition = async (log: LogReader, lastSeal: StoredEvent): Promise<Position | null> => {
  const sealed = new Set(sealOf(lastSeal).events.map(sealedId));
  for (let after: Position | null = lastSeal.position; ;) {
    const page = await log.readAll({ direction: 'backwards', after, limit: PAGE });
    for (const event of page.events) {
      if (event.stream === SEAL_STREAM) for (const entry of sealOf(event).events) sealed.add(sealedId(entry));
      else if (isSealable(event) && sealed.has(event.id)) return event.position;
    }
    if (page.end) return null;
    after = page.next;
  }
};
