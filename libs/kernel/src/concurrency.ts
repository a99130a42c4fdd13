import { settlesWithin } from './time-limits';
import { offBudget } from './wait-budget';

/**
 * Runs one piece of work at a time, in the order of the calls. Our own, six lines: `async-mutex` can cancel all
 * waiters but not one.
 */
export class Mutex {
  private last: Promise<unknown> = Promise.resolve();
  private unfinished = 0;
  private readonly finish = (): void => void (this.unfinished -= 1);

  /** Nothing runs or waits. */
  get isFree(): boolean {
    return this.unfinished === 0;
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    this.unfinished += 1;
    const result = this.last.then(work);
    this.last = result.then(this.finish, this.finish);
    return result;
  }

  /** The same for cancellable work: if it is cancelled before its turn, it does not wait. */
  async inTurn(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    let begun = false;
    const turn = this.run(async () => {
      if (signal.aborted) return;
      begun = true;
      await work();
    });
    const calledOff = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => (begun ? undefined : resolve()), { once: true }),
    );
    await Promise.race([turn, calledOff]);
  }
}

/**
 * Limits how many pieces of work run at once. The others wait in the order of the calls. If the signal of a waiter is
 * aborted, it rejects with the reason when its turn comes, and does not run. Our own, ten lines: `p-limit` and the semaphore of
 * `async-mutex` take no signal.
 */
export class Semaphore {
  private readonly waiting: (() => void)[] = [];

  constructor(private free: number) {}

  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((begin) => this.waiting.push(begin));
    try {
      signal?.throwIfAborted();
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.free += 1;
      else next();
    }
  }
}

/**
 * Runs work of the same name one after the other, in the order of the calls. It is a courtesy and not a lock: after a
 * maximum wait the work runs beside the others, which no library's mutex offers.
 */
export class Queues {
  private readonly ends = new Map<string, Promise<void>>();

  /** Runs the work in its turn, or after `timeoutMs` milliseconds. */
  async run<T>(name: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
    const before = this.ends.get(name);
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const end = before === undefined ? done : before.then(() => done);
    this.ends.set(name, end);
    void end.then(() => (this.ends.get(name) === end ? this.ends.delete(name) : undefined));
    try {
      if (before !== undefined) await settlesWithin(timeoutMs, before);
      return await work();
    } finally {
      resolve();
    }
  }
}

/**
 * Lets callers go on a few in each turn of the event loop, in the order of the calls: many that an operation ends for at once would
 * otherwise keep everybody else waiting.
 */
export class Turns {
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly each: number) {}

  /** Resolves when it is the caller's turn, in a later turn of the loop. */
  next(): Promise<void> {
    return new Promise((goOn) => {
      if (this.waiting.push(goOn) === 1) setImmediate(this.take);
    });
  }

  private readonly take = (): void => {
    for (const goOn of this.waiting.splice(0, this.each)) goOn();
    if (this.waiting.length > 0) setImmediate(this.take);
  };
}

/** Collects requests while the group before them runs, so that many callers share one operation of a store. */
export class Grouped<Request, Answer> {
  private next: { readonly requests: Request[]; readonly answers: Promise<readonly Answer[]> } | undefined;
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly work: (requests: readonly Request[]) => Promise<readonly Answer[]>) {}

  /** Resolves to the answer at the request's place in its group; rejects if the group fails. */
  async join(request: Request): Promise<Answer> {
    this.next ??= this.begin();
    const { requests, answers } = this.next;
    const place = requests.push(request) - 1;
    return (await answers)[place] as Answer;
  }

  private begin(): { requests: Request[]; answers: Promise<readonly Answer[]> } {
    const requests: Request[] = [];
    const answers = this.last.then(() => {
      this.next = undefined;
      return this.work(requests);
    });
    this.last = answers.catch(() => undefined);
    return { requests, answers };
  }
}

/** Shares one answer among all callers who ask while it is being computed. The work runs once at a time, outside of any request's wait budget. */
export const coalesced = <T>(ask: () => Promise<T>): (() => Promise<T>) => {
  let asking: Promise<T> | undefined;
  return () => (asking ??= offBudget(ask).finally(() => (asking = undefined)));
};
