import type { Pause } from './pausing';

/** What the double does wrong on purpose. All are off at first; a test sets them at any time. */
export interface Faults {
  /** So many of the next appends and deletions are committed and never answered. */
  dropAcknowledgements: number;
  /** So many of the next appends are answered twice: the client throws outside any promise at the second answer. */
  answerTwice: number;
  /** So many of the next appends are committed, and end their call, as an exception does where the server is stopped; the next reads end so too. */
  handlerThrows: number;
  /** So many of the next appends are committed and answered with a timeout, as a commit timeout does. */
  commitTimeouts: number;
  /** So many of the next appends are answered with a timeout and not stored. */
  prepareTimeouts: number;
  /** Every append and read is rejected with this text, as a server does that starts or votes: `Server Is Not Ready`, `Server Is Busy`. */
  refusal: string | null;
  /** Writes, and reads that require the leader, are sent to this one instead. */
  leader: { readonly host: string; readonly port: number } | null;
  /** Every call ends with `UNAVAILABLE`, open ones when they next do something. */
  isUnavailable: boolean;
  /** Nothing is answered on any call, open or new, and nothing is written; connections stay open. */
  isSilent: boolean;
  /** It stands still: nothing is worked on or answered until it goes on, and then all of it is, in order. */
  isPaused: boolean;
  /** Subscriptions stay open and hand over nothing more until it is false again. */
  stallSubscriptions: boolean;
  /** Every answer to an append and every beginning of a read waits so long. */
  delayMs: number;
  /** Milliseconds for which a filtered read looks at 32 events that it does not want: it says nothing until it finds one. */
  searchMs: number;
  /** How often the end of the log is said: 0 forgets it, 100 repeats itself. */
  caughtUps: number;
}

export const noFaults = (pause: Pause): Faults => ({
  dropAcknowledgements: 0,
  answerTwice: 0,
  handlerThrows: 0,
  commitTimeouts: 0,
  prepareTimeouts: 0,
  refusal: null,
  leader: null,
  isUnavailable: false,
  isSilent: false,
  get isPaused() {
    return pause.isPaused;
  },
  set isPaused(isPaused) {
    pause.isPaused = isPaused;
  },
  stallSubscriptions: false,
  delayMs: 0,
  searchMs: 0,
  caughtUps: 1,
});

type Counted = 'dropAcknowledgements' | 'answerTwice' | 'handlerThrows' | 'commitTimeouts' | 'prepareTimeouts';

/** Whether a counted fault strikes now; it is one less then. */
export const strikes = (faults: Faults, fault: Counted): boolean => {
  if (faults[fault] <= 0) return false;
  faults[fault] -= 1;
  return true;
};
