import { type MessagePort, parentPort, type Worker } from 'node:worker_threads';
import { Unavailable } from './errors';

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

/** Serves the methods of an object to the thread that started this one, in the order of its calls; the thread ends after the closing. */
export const serveCalls = <H extends { close(): void }>(handlers: H, port: MessagePort | null = parentPort): void => {
  if (port === null) throw new Error('serveCalls runs in a worker thread');
  const answer = async ({ id, method, args }: Request): Promise<Reply> => {
    try {
      return { id, value: await (handlers[(method ?? 'close') as keyof H] as Invoked)(...args) };
    } catch (error) {
      return { id, error: thrown(error) };
    }
  };
  port.on('message', (requests: readonly Request[]) => {
    for (const request of requests) {
      void answer(request).then((reply) => {
        port.postMessage(reply);
        if (request.method === null) port.close();
      });
    }
  });
};

/** The same calls to an object in this thread. */
export const callHere = <H extends { close(): void }>(handlers: H): Calls<H> => ({
  // The compiler cannot follow which method is called; `Calls` names its answer.
  call: async (method, ...args) => (handlers[method] as Invoked)(...args) as never,
  close: async () => handlers.close(),
});

/**
 * Calls into a thread that runs `serveCalls`. Errors arrive as instances of `errors`, found by name. When the thread dies, calls
 * under way are refused as `Unavailable` with an unknown outcome, and the next call starts a new thread.
 */
export const callThread = <H extends { close(): void }>(dependency: string, start: () => Worker, errors: readonly ErrorClass[]): Calls<H> => {
  const pending = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const classes = new Map(errors.map((errorClass) => [errorClass.name, errorClass]));
  let worker: Worker | undefined;
  let lastId = 0;

  const running = (): Worker => {
    if (worker !== undefined) return worker;
    const started = start();
    let reason = 'its thread ended';
    started.on('message', ({ id, value, error }: Reply) => {
      const call = pending.get(id);
      pending.delete(id);
      if (pending.size === 0) started.unref();
      if (error === undefined) call?.resolve(value);
      else call?.reject(revived(error, classes));
    });
    started.on('error', (error) => (reason = (error as Partial<Error>).message ?? reason));
    started.on('exit', () => {
      if (worker === started) worker = undefined;
      for (const call of pending.values()) call.reject(new Unavailable(dependency, reason, 'unknown'));
      pending.clear();
    });
    return (worker = started);
  };

  const post = (requests: readonly Request[]): void => {
    const thread = running();
    try {
      thread.postMessage(requests);
    } catch (error) {
      // Only what cannot be cloned fails.
      if (requests.length > 1) return requests.forEach((request) => post([request]));
      for (const { id } of requests) {
        pending.get(id)?.reject(error as Error);
        pending.delete(id);
      }
      if (pending.size === 0) thread.unref();
    }
  };

  let queue: Request[] = [];
  /** Calls of one turn travel together: each message may have to wake the thread. */
  const flush = (): void => {
    // Those of a thread that died meanwhile were refused.
    const requests = queue.filter(({ id }) => pending.has(id));
    queue = [];
    if (requests.length > 0) post(requests);
  };

  const send = (method: string | null, args: readonly unknown[]): Promise<never> =>
    new Promise((resolve, reject) => {
      const id = ++lastId;
      running().ref();
      pending.set(id, { resolve: resolve as (value: unknown) => void, reject });
      if (queue.push({ id, method, args }) === 1) setImmediate(flush);
    });

  return {
    call: (method, ...args) => send(method, args),
    close: async () => {
      const thread = worker;
      if (thread === undefined) return;
      const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
      await send(null, []);
      thread.ref();
      await ended;
    },
  };
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
