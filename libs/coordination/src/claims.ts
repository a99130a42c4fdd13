import {
  type Clock,
  errorName,
  isAccessDenied,
  isUnavailable,
  type Json,
  type Logger,
  settlesWithin,
  Unavailable,
} from '@app/kernel';
import type { CoordinationStore } from './coordination-store';

type Claim = { readonly holder: string; readonly until: number; readonly asked?: true };

const keyOf = (name: string): string => `claim/${name}`;

/**
 * Ends a claim. Work that is left unfinished leaves its claim standing, for whoever finishes such work (`finishAbandoned`). What was done under
 * it is done, whatever the store says: a claim that cannot be given back, or not within a second, is taken again here, and ends by itself.
 */
export type Release = (end?: { readonly isUnfinished: boolean }) => Promise<void>;

/** Claims that are listed at once. */
const PAGE = 500;
/** How long whoever ends a claim waits until it is given back, milliseconds. */
const RELEASE_MS = 1_000;

/** Who works on what, between processes: a claim that is not kept up for `claimMs` is free again. */
export class Claims {
  /** Names of the claims that this process works under: however late their heartbeats are, it does not take them from itself. */
  private readonly working = new Set<string>();
  /** Names of the claims that this process left standing. */
  private readonly left = new Set<string>();

  constructor(
    private readonly store: CoordinationStore,
    private readonly clock: Clock,
    /** Names this process among all that ever ran. */
    private readonly holder: string,
    private readonly claimMs: number,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /**
   * Takes a free claim and keeps it up until the returned function is called; undefined when somebody else holds it.
   * `onAsked` is told when another process asks to end the work (`ask`). Throws `Unavailable` with the outcome `none` where the store
   * is away, or so slow that the claim ran out before it was confirmed: nothing of the work was done.
   */
  async take(name: string, onAsked: () => void = () => undefined): Promise<Release | undefined> {
    const key = keyOf(name);
    const current = await this.current(name);
    if (this.working.has(name)) return undefined;
    // One that was left standing here is nobody's; whoever asks first takes it.
    const wasLeft = this.left.delete(name);
    const isLeft = wasLeft && current?.holder === this.holder;
    if (current !== undefined && this.isHeld(current) && !isLeft) return undefined;
    let mine: Claim = this.fresh();
    if (!(await this.begun(name, mine, current, wasLeft))) return undefined;
    this.working.add(name);
    let heartbeats: Promise<unknown> = Promise.resolve();
    const heartbeat = async (): Promise<void> => {
      const next = this.fresh();
      if (await this.store.write(key, next, { expected: mine })) mine = next;
      else {
        // Asked to end, or written by an earlier heartbeat whose answer was lost.
        const current = await this.current(name);
        if (current?.holder !== this.holder) return;
        mine = current;
        if (current.asked === true) onAsked();
      }
    };
    // A missed heartbeat is made up by the next. What must never be done twice is fenced by the log, not by the claim.
    const missed = (error: unknown): void => {
      // Of a store that is away each process tells once, for all of its claims (`Processes`).
      if (!isUnavailable(error))
        this.logger.warn({ claim: name, error: errorName(error) }, 'Heartbeat of a claim failed; retrying.');
    };
    const timer = setInterval(
      () => void (heartbeats = heartbeats.then(heartbeat).catch(missed)),
      this.claimMs / 3,
    ).unref();
    const ended = async (isUnfinished: boolean): Promise<void> => {
      await heartbeats;
      this.working.delete(name);
      // Where it stands nobody works under it.
      if (isUnfinished || !(await this.isGivenBack(name, mine))) this.left.add(name);
      else this.left.delete(name);
    };
    return async (end) => {
      clearInterval(timer);
      const ending = ended(end?.isUnfinished === true);
      if (await settlesWithin(RELEASE_MS, ending)) return ending;
      this.left.add(name);
    };
  }

  /** Asks whoever holds a claim to end its work, which hears of it at its next heartbeat. False where nobody holds it. */
  async ask(name: string): Promise<boolean> {
    for (;;) {
      const current = await this.current(name);
      if (current === undefined || !this.isHeld(current)) return false;
      if (await this.store.write(keyOf(name), { ...current, asked: true }, { expected: current })) return true;
    }
  }

  /** As `ask`, of whoever holds claims whose names begin with `prefix`. */
  async askAll(prefix: string): Promise<void> {
    for (const name of await this.names(prefix, Infinity)) await this.ask(name);
  }

  /**
   * Finishes work under names that begin with `prefix` whose claim nobody has kept up for `forMs` milliseconds: whoever held it died, or left
   * it standing. `finish` is told the rest of the name; where it fails the claim stands for another time, and the failure is thrown when the
   * others are finished, or at once where a store is away.
   */
  async finishAbandoned(prefix: string, forMs: number, finish: (rest: string) => Promise<unknown>): Promise<void> {
    const failures: unknown[] = [];
    for (const name of await this.names(prefix, this.clock.now().getTime() - forMs)) {
      const release = await this.take(name);
      if (release === undefined) continue;
      let isUnfinished = true;
      try {
        await finish(name.slice(prefix.length));
        isUnfinished = false;
      } catch (error) {
        if (isUnavailable(error)) throw error;
        failures.push(error);
      } finally {
        await release({ isUnfinished });
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  /** Of claims that were kept up until before a time. */
  private async names(prefix: string, before: number): Promise<readonly string[]> {
    const names: string[] = [];
    for (let after: string | undefined; ;) {
      const page = await this.store.list(keyOf(prefix), after === undefined ? { limit: PAGE } : { after, limit: PAGE });
      for (const { key, value } of page) if ((value as Claim).until < before) names.push(key.slice(keyOf('').length));
      after = page.at(-1)?.key;
      if (page.length < PAGE) return names;
    }
  }

  private async begun(name: string, mine: Claim, current: Claim | undefined, wasLeft: boolean): Promise<boolean> {
    try {
      if (await this.store.write(keyOf(name), mine, { expected: current as Json | undefined })) {
        if (this.isHeld(mine)) return true;
        // Others may have found it lapsed by now.
        throw new Unavailable('coordination', 'a claim ran out before it was confirmed', 'unknown');
      }
      // An earlier write of this process may have come in between.
      if (wasLeft) this.left.add(name);
      return false;
    } catch (error) {
      if (isUnavailable(error) && (wasLeft || error.outcome === 'unknown')) this.left.add(name);
      if (!isUnavailable(error) || isAccessDenied(error) || error.outcome === 'none') throw error;
      // It may stand all the same, and nobody works under it: whoever asks here next takes it, others find it lapsed.
      throw new Unavailable(error.dependency, error.reason, 'none', { cause: error });
    }
  }

  /** False where the store does not say so. */
  private async isGivenBack(name: string, mine: Claim): Promise<boolean> {
    const key = keyOf(name);
    try {
      // Where it was asked to end since the last heartbeat, it has ended.
      if (!(await this.store.write(key, null, { expected: mine })))
        await this.store.write(key, null, { expected: { ...mine, asked: true } });
      return true;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return false;
    }
  }

  private async current(name: string): Promise<Claim | undefined> {
    return (await this.store.read(keyOf(name))) as Claim | undefined;
  }

  private isHeld({ until }: Claim): boolean {
    return until > this.clock.now().getTime();
  }

  private fresh(): Claim {
    return { holder: this.holder, until: this.clock.now().getTime() + this.claimMs };
  }
}
