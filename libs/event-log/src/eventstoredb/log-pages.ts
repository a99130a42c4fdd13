import type { Position } from '@app/kernel';
import type { Connection } from './connection';
import { patiently } from './patience';
import { allRequest } from './read-request';
import type { Removals } from './removals';
import { allFault, ServerFault } from './server-errors';
import { type Found, readFrom } from './server-reader';

/** Milliseconds within which a read is answered or fails: a command reads its stream first, and has two seconds in all. */
export const READ_MS = 1_700;
/** A page may begin behind many events of the server's own: after each silence the next read waits twice as long, up to this. */
const LONGEST_MS = 28_000;

/** Gives pages of the whole log, without streams of the server's own. */
export interface PageSource {
  /** Forwards the event at `from` comes too. What was removed before the call is known to `Removals` when it ends. Throws `ServerFault`. */
  page(direction: 'forwards' | 'backwards', from: Position | null, limit: number): Promise<Found>;
}

/** Reads each page anew. */
export class LogPages implements PageSource {
  private silence = READ_MS;

  constructor(
    private readonly connection: Connection,
    private readonly removals: Removals,
  ) {}

  async page(direction: 'forwards' | 'backwards', from: Position | null, limit: number): Promise<Found> {
    const request = allRequest(direction, from, limit);
    const { silence } = this;
    const givenUp = new AbortController();
    const { signal } = givenUp;
    const read = patiently(silence, (left) => readFrom(this.connection, request, left, undefined, signal), ({ isPassing }) => isPassing && !signal.aborted);
    try {
      const [found] = await Promise.all([read, this.removals.learn()]);
      this.silence = READ_MS;
      return found;
    } catch (error) {
      // A silent server may be asked for the removals and fail long before this read does: further pages would pile up behind it.
      givenUp.abort();
      if (error instanceof ServerFault && error.fault === 'late') this.silence = Math.min(2 * silence, LONGEST_MS);
      throw error instanceof ServerFault ? allFault(error) : error;
    }
  }
}

/** Lets followers who ask for the same page at the same time share it: all that a process runs stand at the same place as a rule. */
export class SharedPages implements PageSource {
  private readonly under = new Map<string, Promise<Found>>();

  constructor(private readonly pages: PageSource) {}

  /** Pages that are being read may lack what was appended by now. */
  forget(): void {
    this.under.clear();
  }

  page(direction: 'forwards' | 'backwards', from: Position | null, limit: number): Promise<Found> {
    const key = `${direction} ${from ?? ''} ${limit}`;
    const known = this.under.get(key);
    if (known !== undefined) return known;
    const page = this.pages.page(direction, from, limit);
    this.under.set(key, page);
    const done = (): void => {
      if (this.under.get(key) === page) this.under.delete(key);
    };
    page.then(done, done);
    return page;
  }
}
