/** Something that is closed once. */
export interface Closable {
  close(): Promise<unknown>;
}

/**
 * The resources that a process opened; closes them in reverse order. A start that fails half-way closes what it
 * opened until then, and opens nothing more.
 */
export class Resources {
  private readonly opened: Closable[] = [];
  private last: Promise<unknown> = Promise.resolve();
  private closing: Promise<void> | undefined;

  /**
   * Opens a resource when all earlier ones are open. Rejects if `open` does, if an earlier resource failed, or if
   * everything is closed.
   */
  open<T extends Closable>(open: () => T | Promise<T>): Promise<T> {
    const next = this.last.then(async () => {
      if (this.closing !== undefined) throw new Error('the process is stopping: nothing more is opened');
      const opened = await open();
      this.opened.push(opened);
      return opened;
    });
    this.last = next;
    return next;
  }

  /** Closes everything, once. If closing one fails, it closes the others and then throws. */
  close(): Promise<void> {
    this.closing ??= this.closeAll();
    return this.closing;
  }

  private async closeAll(): Promise<void> {
    // Whoever opened it hears of a failure.
    await this.last.catch(() => undefined);
    const failures: unknown[] = [];
    for (let next = this.opened.pop(); next !== undefined; next = this.opened.pop())
      await next.close().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }
}
