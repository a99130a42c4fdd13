/** Use an answer of the server for this long, milliseconds, so that many reads a second cost few questions. */
export const RECENT_MS = 50;
/** From this age on, ask again in the background, so that no reader waits. */
const AHEAD_MS = 40;

/** An answer of the server. */
export interface Answered {
  /** When it was asked. */
  askedAt: number;
  /** While it is asked again. */
  isAsked?: boolean;
}

/**
 * Which answers of the server are as good as new: those asked for within the last few milliseconds, unless this process has seen
 * the view move since. So other processes' writes are seen a few milliseconds later at most, and what this one wrote, or waited for, at once.
 * Our own: the answers lie in an `lru-cache`, whose `ttl` goes by the age of an entry alone. Here a view that moves outdates all its
 * answers, and one that is asked for is fetched anew before its time is over.
 */
export class TtlCache {
  private readonly moved = new Map<string, number>();

  /** The view has changed, or may have. */
  move(view: string): void {
    this.moved.set(view, performance.now());
  }

  /** Whether an answer may be given again. `ask` asks the server again: it is called before that ends, and once at a time. */
  holds(view: string, answered: Answered, ask: () => Promise<unknown>): boolean {
    const age = performance.now() - answered.askedAt;
    if (age >= RECENT_MS || answered.askedAt <= (this.moved.get(view) ?? 0)) return false;
    if (age >= AHEAD_MS && answered.isAsked !== true) {
      answered.isAsked = true;
      const asked = (): void => void (answered.isAsked = false);
      // Where it fails, the next reader waits for an answer, and is told what is wrong.
      ask().then(asked, asked);
    }
    return true;
  }
}
