/**
 * Runs one piece of work at a time, in the order of asking. Of our own: `async-mutex` can only call off all who wait, not one, and
 * would take the place of six lines.
 */
export class Mutex {
  private last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.last.then(work);
    this.last = result.catch(() => undefined);
    return result;
  }

  /** The same for work that may be called off: who is called off before its turn waits for nobody. */
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
