import { type ServerInterceptor, ServerInterceptingCall, ServerListenerBuilder } from '@grpc/grpc-js';
import { seededNumbers } from '../../faults/log/rounds';

/** A server that stands still for a while: what comes is taken by the system and worked on afterwards, in order; nothing is answered, and no connection ends. */
export class Pause {
  /** Messages received, by their method: `Streams/BatchAppend`, `Streams/Read`. */
  readonly received = new Map<string, number>();
  private readonly held: (() => void)[] = [];
  private isHolding = false;

  get isPaused(): boolean {
    return this.isHolding;
  }

  set isPaused(isPaused: boolean) {
    this.isHolding = isPaused;
    if (!isPaused) for (const pass of this.held.splice(0)) pass();
  }

  pass(work: () => void): void {
    if (this.isHolding) this.held.push(work);
    else work();
  }

  count(path: string): void {
    const method = path.slice(path.lastIndexOf('.') + 1);
    this.received.set(method, (this.received.get(method) ?? 0) + 1);
  }
}

/** Lets every call through a pause. */
export const pausing =
  (pause: Pause): ServerInterceptor =>
  ({ path }, call) => {
    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, next) => pause.pass(() => next(metadata)))
      .withOnReceiveMessage((message, next) => {
        pause.count(path);
        pause.pass(() => next(message));
      })
      .withOnReceiveHalfClose((next) => pause.pass(next))
      .build();
    return new ServerInterceptingCall(call, {
      start: (next) => next(listener),
      sendMetadata: (metadata, next) => pause.pass(() => next(metadata)),
      sendMessage: (message, next) => pause.pass(() => next(message)),
      sendStatus: (status, next) => pause.pass(() => next(status)),
    });
  };

/** How often a server that has much to do pauses, and for how long. Milliseconds. */
export interface Pauses {
  readonly every: number;
  readonly least: number;
  readonly most: number;
}

/** As measured under 64 callers: 1.0 s on 23.10.6 and 1.9 s on 24.10.4, about once in 75 s. */
export const REAL_PAUSES: Pauses = { every: 75_000, least: 1_000, most: 1_900 };
export const noPauses = undefined;

/** How often it is looked at how much there is to do, milliseconds. */
const LOOK_MS = 250;
/** Messages received a second from which on a server has much to do. */
const BUSY = 200;

/** Pauses now and then while there is much to do. Returns how to end that. */
export const pauseNowAndThen = (pause: Pause, { every, least, most }: Pauses): (() => void) => {
  const next = seededNumbers();
  const total = (): number => [...pause.received.values()].reduce((sum, count) => sum + count, 0);
  let seen = 0;
  let busyFor = 0;
  let due = every;
  let goOn: NodeJS.Timeout | undefined;
  const timer = setInterval(() => {
    const received = total();
    if (received - seen > (BUSY * LOOK_MS) / 1_000) busyFor += LOOK_MS;
    seen = received;
    if (busyFor < due || pause.isPaused) return;
    busyFor = 0;
    due = every / 2 + next(every);
    pause.isPaused = true;
    goOn = setTimeout(() => (pause.isPaused = false), least + next(most - least));
  }, LOOK_MS).unref();
  return () => {
    clearInterval(timer);
    clearTimeout(goOn);
  };
};
