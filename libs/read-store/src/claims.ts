import type { Clock, Json } from '@app/kernel';
import type { ReadStore } from './read-store';

/** Who works on what, between processes: a claim that is not kept up for `claimMs` is free again. */
export class Claims {
  constructor(
    private readonly store: Pick<ReadStore, 'readState' | 'writeState'>,
    private readonly clock: Clock,
    /** Names this process among all that ever ran. */
    private readonly holder: string,
    private readonly claimMs: number,
  ) {}

  /** Takes a free claim and keeps it up until the returned function is called; undefined when somebody else holds it. */
  async take(name: string): Promise<(() => Promise<void>) | undefined> {
    const key = `claim/${name}`;
    const standing = (await this.store.readState(key)) as { readonly holder: string; readonly until: number } | undefined;
    if (standing !== undefined && standing.until > this.clock.now().getTime()) return undefined;
    let mine = this.fresh();
    if (!(await this.store.writeState(key, mine, { expected: standing as Json | undefined }))) return undefined;
    let beating: Promise<unknown> = Promise.resolve();
    const beat = async (): Promise<void> => {
      const next = this.fresh();
      if (await this.store.writeState(key, next, { expected: mine })) mine = next;
    };
    // A missed beat is made up by the next. What must never be done twice is fenced by the log, not by the claim.
    const timer = setInterval(() => void (beating = beating.then(beat).catch(() => undefined)), this.claimMs / 3).unref();
    return async () => {
      clearInterval(timer);
      await beating;
      await this.store.writeState(key, null, { expected: mine });
    };
  }

  private fresh(): { readonly holder: string; readonly until: number } {
    return { holder: this.holder, until: this.clock.now().getTime() + this.claimMs };
  }
}
