import { setTimeout as pause } from 'node:timers/promises';
import { duration } from '../output';
import { Failure } from '../exit-codes';

/** Prints what is being done, and how long each step took. */
export class Steps {
  private readonly startedAt = performance.now();
  private number = 0;

  constructor(private readonly write: (text: string) => void) {}

  /** Runs one step under a numbered heading. */
  async step<T>(title: string, work: () => Promise<T>): Promise<T> {
    this.number += 1;
    this.write(`\n${this.number}. ${title}\n`);
    const from = performance.now();
    const result = await work();
    this.write(`   done in ${seconds(from)}\n`);
    return result;
  }

  say(text: string): void {
    this.write(`   ${text}\n`);
  }

  end(): void {
    this.write(`\nAll ${this.number} steps done in ${seconds(this.startedAt)}.\n`);
  }
}

const seconds = (from: number): string => duration((performance.now() - from) / 1000);

/** Polls until there is an answer other than undefined. Fails after `withinMs`. */
export const poll = async <T>(what: string, withinMs: number, ask: () => Promise<T | undefined>): Promise<T> => {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Failure(`${what} took longer than ${withinMs / 1000} seconds.`);
    await pause(100);
  }
};
