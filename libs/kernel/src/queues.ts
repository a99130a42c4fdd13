import { settlesWithin } from './rest';

/** Lets work under the same name run one at a time, in the order of asking. It is a courtesy and no lock: whoever has waited for long enough runs beside the others, which no mutex of a library lets them do. */
export class Queues {
  private readonly ends = new Map<string, Promise<void>>();

  /** Runs the work in its turn, or after `patienceMs` milliseconds. */
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
