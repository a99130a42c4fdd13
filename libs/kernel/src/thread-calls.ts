import { type MessagePort, parentPort, type Worker } from 'node:worker_threads';
import { Unavailable } from './errors';
import { threadEnds } from './thread';

/** A function that another thread may call: arguments and answer survive a structured clone. */
type Callable = (...args: never[]) => unknown;
type Invoked = (...args: readonly unknown[]) => unknown;
type Method<H> = { [K in keyof H]: H[K] extends Callable ? K : never }[keyof H] & string;
type Arguments<F> = F extends (...args: infer A) => unknown ? A : never;
type Answer<F> = F extends (...args: never[]) => infer R ? Awaited<R> : never;

/** Calls to the methods of an object, whichever thread it lives in. */
export interface Calls<H> {
  call<M extends Method<H>>(method: M, ...args: Arguments<H[M]>): Promise<Answer<H[M]>>;
  /** Answers the calls under way, then closes the object. */
  close(): Promise<void>;
}

interface Request {
  readonly id: number;
  /** Null asks the object to close. */
  readonly method: string | null;
  readonly args: readonly unknown[];
}

interface ThrownError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
}

type Reply = { readonly id: number; readonly value?: unknown; readonly error?: ThrownError };
type ErrorClass = abstract new (...args: never[]) => Error;

/**
 * Serves the methods of an object to the thread that started this one. Calls start in their order. Results of one turn
 * are sent in one message, because each message may have to wake the other thread. The object and the thread are closed
 * after the last call.
 */
export const serveCalls = <H extends { close(): void }>(handlers: H, port: MessagePort | null = parentPort): void => {
  if (port === null) throw new Error('serveCalls runs in a worker thread');
  const underWay = new Set<Promise<void>>();
  const answer = async ({ id, method, args }: Request): Promise<Reply> => {
    try {
      return { id, value: await (handlers[(method ?? 'close') as keyof H] as Invoked)(...args) };
    } catch (error) {
      return { id, error: thrown(error) };
    }
  };
  let replies: Reply[] = [];
  const flush = (): void => {
    if (replies.length > 0) port.postMessage(replies);
    replies = [];
  };
  const serve = async (request: Request): Promise<void> => {
    if (request.method === null) await Promise.all(underWay);
    const reply = await answer(request);
    // Sends all results so far before anything else is awaited.
    if (replies.push(reply) === 1) process.nextTick(flush);
    if (request.method !== null) return;
    flush();
    port.close();
  };
  port.on('message', (requests: readonly Request[]) => {
    for (const request of requests) {
      const served = serve(request);
      underWay.add(served);
      void served.finally(() => underWay.delete(served));
    }
  });
};

/** The same calls to an object in this thread. */
export const callHere = <H extends { close(): void }>(handlers: H): Calls<H> => ({
  // The compiler cannot follow which method is called; `Calls` names its answer.
  call: async (method, ...args) => (handlers[method] as Invoked)(...args) as never,
  close: async () => handlers.close(),
});

/** A thread and its own calls: a late result or its end does not affect the calls of the next thread. */
interface Running {
  readonly worker: Worker;
  readonly pending: Map<number, { resolve(value: unknown): void; reject(error: Error): void }>;
  /** Calls of this turn: they are sent together, because each message may have to wake the thread. */
  queue: Request[];
}

/**
 * Calls the methods of an object in a thread that runs `serveCalls`. Errors arrive as instances of `errors`, by name.
 * If the thread dies, pending calls reject as `Unavailable` with an unknown outcome, and the next call starts a new
 * thread.
 */
export const callThread = <H extends { close(): void }>(
  dependency: string,
  start: () => Worker,
  errors: readonly ErrorClass[],
): Calls<H> => {
  const classes = new Map(errors.map((errorClass) => [errorClass.name, errorClass]));
  let current: Running | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  let lastId = 0;

  const begin = (): Running => {
    const running: Running = { worker: start(), pending: new Map(), queue: [] };
    const { worker, pending } = running;
    let reason = 'its thread ended';
    worker.on('message', (replies: readonly Reply[]) => {
      for (const { id, value, error } of replies) {
        const call = pending.get(id);
        pending.delete(id);
        if (error === undefined) call?.resolve(value);
        else call?.reject(revived(error, classes));
      }
      // The end of a thread that is being closed is waited for.
      if (pending.size === 0 && current === running) worker.unref();
    });
    worker.on('error', (error) => (reason = (error as Partial<Error>).message ?? reason));
    worker.on('exit', () => {
      if (current === running) current = undefined;
      for (const call of pending.values()) call.reject(new Unavailable(dependency, reason, 'unknown'));
      pending.clear();
    });
    return running;
  };

  const send = (running: Running, method: string | null, args: readonly unknown[]): Promise<never> =>
    new Promise((resolve, reject) => {
      const id = ++lastId;
      running.worker.ref();
      running.pending.set(id, { resolve: resolve as (value: unknown) => void, reject });
      if (running.queue.push({ id, method, args }) === 1) setImmediate(flush, running);
    });

  return {
    call: (method, ...args) => send((current ??= begin()), method, args),
    close: async () => {
      const closing = current;
      // From here on calls are for the next thread.
      current = undefined;
      if (closing === undefined) return void (await ended);
      ended = Promise.all([ended, new Promise<void>((resolve) => closing.worker.once('exit', () => resolve()))]);
      await send(closing, null, []);
      void threadEnds(closing.worker);
      await ended;
    },
  };
};

const flush = (running: Running): void => {
  // Those of a thread that died meanwhile were rejected.
  const requests = running.queue.filter(({ id }) => running.pending.has(id));
  running.queue = [];
  if (requests.length > 0) post(running, requests);
};

const post = (running: Running, requests: readonly Request[]): void => {
  const { worker, pending } = running;
  try {
    worker.postMessage(requests);
  } catch (error) {
    // Only what cannot be cloned fails.
    if (requests.length > 1) return requests.forEach((request) => post(running, [request]));
    for (const { id } of requests) {
      pending.get(id)?.reject(error as Error);
      pending.delete(id);
    }
    if (pending.size === 0) worker.unref();
  }
};

const thrown = (error: unknown): ThrownError =>
  error instanceof Error
    ? { name: error.name, message: error.message, stack: error.stack, fields: { ...error } }
    : { name: 'Error', message: String(error), stack: undefined, fields: {} };

const revived = ({ name, message, stack, fields }: ThrownError, classes: ReadonlyMap<string, ErrorClass>): Error => {
  const error = Object.assign(new Error(message), { name, stack }, fields);
  const errorClass = classes.get(name);
  return errorClass === undefined ? error : (Object.setPrototypeOf(error, errorClass.prototype as object) as Error);
};
