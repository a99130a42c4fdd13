import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb';
import { type Position, type StoredEvent, waitBudget } from '@app/kernel';
import type { Connection } from './connection';
import { serverFault, ServerFault } from './server-errors';
import { storedEvent, writtenAt } from './stored-event';
import type { ReadCall } from './transport';

/** Cut a read short after this many bytes of data and metadata. */
const MOST_BYTES = 16 * 1024 * 1024;
/** Parts into which the time is divided. */
const TURNS = 5;

export interface Found {
  /** Includes foreign events. */
  readonly events: readonly StoredEvent[];
  /** Which of them others wrote, and when. */
  readonly foreign: ReadonlyMap<StoredEvent, string>;
  /** False if the read was cut short: more may follow. */
  readonly isWhole: boolean;
  /** Where all up to here was looked at, beyond the last of `events`. */
  readonly upTo?: Position | undefined;
}

const NONE: ReadonlyMap<StoredEvent, string> = new Map();
/** Of a stream that does not exist, or not any more. */
export const NOTHING: Found = { events: [], foreign: NONE, isWhole: true };

/**
 * Reads all events, or those up to `mostBytes`. A stream that does not exist, or not any more, gives none. Throws
 * `ServerFault`, also if nothing arrives for so many milliseconds, if a request waits for longer in all, or if
 * `signal` says that nobody waits any more.
 */
export const readFrom = (
  connection: Connection,
  request: ReadReq,
  silence: number,
  mostBytes = MOST_BYTES,
  signal?: AbortSignal,
): Promise<Found> =>
  new Promise((resolve, reject) => {
    const events: StoredEvent[] = [];
    let foreign: Map<StoredEvent, string> | undefined;
    let bytes = 0;
    let turns = 0;
    const isForRequest = waitBudget() !== undefined;
    let call: ReadCall | undefined;
    let isOver = false;
    const end = (outcome: () => void): void => {
      isOver = true;
      clearInterval(watch);
      outcome();
    };
    const breakOff = (outcome: () => void): void => {
      end(outcome);
      call?.cancel();
    };
    const fail = (error: unknown): void => {
      const fault = serverFault(error);
      end(() => (fault.fault === 'tombstoned' ? resolve(NOTHING) : reject(fault)));
    };
    // Count in turns, so that time in which this process was blocked does not count against the server.
    const watch = setInterval(() => {
      if ((turns += 1) >= TURNS) breakOff(() => reject(new ServerFault('late')));
    }, silence / TURNS);
    const giveUp = (): void => (isOver ? undefined : breakOff(() => reject(new ServerFault('late'))));
    signal?.addEventListener('abort', giveUp, { once: true });
    if (signal?.aborted === true) return giveUp();
    const take = (response: ReadResp): void => {
      if (isOver) return;
      if (!isForRequest) turns = 0;
      if (response.hasStreamNotFound()) return end(() => resolve(NOTHING));
      const recorded = response.getEvent()?.getEvent();
      if (recorded === undefined) return;
      const event = storedEvent(recorded);
      events.push(event);
      if (connection.ours?.isOurs(event) === false) (foreign ??= new Map()).set(event, writtenAt(recorded));
      bytes += event.data.length + event.metadata.length;
      if (bytes >= mostBytes) breakOff(() => resolve({ events, foreign: foreign ?? NONE, isWhole: false }));
    };
    const attach = (opened: ReadCall): void => {
      call = opened;
      opened.on('data', take);
      opened.on('error', fail);
      opened.on('end', () => end(() => resolve({ events, foreign: foreign ?? NONE, isWhole: true })));
    };
    connection.read(request, attach, () => !isOver).catch(fail);
  });
