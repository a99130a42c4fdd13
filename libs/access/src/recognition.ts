import type { Clock, Decisions } from '@app/kernel';
import { LRUCache } from 'lru-cache';
import type { Caller } from './caller';

/** A caller and the streams it was computed from. It is valid as long as none of them has changed. */
export interface Recognised {
  readonly caller: Caller;
  readonly keyId: string;
  /** Milliseconds since 1970; infinite for a credential that does not expire. */
  readonly expiresAt: number;
  readonly places: readonly Place[];
  /** Of the log that it follows from. */
  readonly timeline: number | undefined;
}

export interface Place {
  readonly stream: string;
  readonly revision: number;
}

/** Remembers the callers of one kind of credential, by their secrets: one in use is proven again only if something that it follows from has changed. */
export class Recognition {
  private readonly recognised = new LRUCache<string, Recognised>({ max: 1_000 });

  constructor(
    private readonly decisions: Pick<Decisions, 'timeline' | 'isLatest' | 'confirm'>,
    private readonly clock: Clock,
    /** Folds what a credential follows from; undefined for one that opens nothing. */
    private readonly prove: (secret: string, reads: boolean) => Promise<Recognised | undefined>,
    private readonly onUse: (keyId: string, at: number) => void,
  ) {}

  /** The caller of a secret; undefined unless it opens something now. `reads`: the request changes nothing. */
  async authenticate(secret: string, reads: boolean): Promise<Caller | undefined> {
    const known = this.known(secret);
    if (known !== undefined && (await this.isConfirmed(known, reads))) return this.used(known);
    const proven = await this.prove(secret, reads);
    if (proven === undefined) return undefined;
    this.recognised.set(secret, proven);
    return this.used(proven);
  }

  /** The caller from memory, if nothing has changed that it follows from; undefined if unknown. */
  recognise(secret: string): Caller | undefined {
    const known = this.known(secret);
    return known?.places.every(({ stream, revision }) => this.decisions.isLatest(stream, revision)) === true
      ? this.used(known)
      : undefined;
  }

  private known(secret: string): Recognised | undefined {
    const known = this.recognised.get(secret);
    return known?.timeline === this.decisions.timeline ? known : undefined;
  }

  private async isConfirmed({ places }: Recognised, reads: boolean): Promise<boolean> {
    for (const { stream, revision } of places)
      if (!this.decisions.isLatest(stream, revision) && !(await this.decisions.confirm(stream, revision, reads)))
        return false;
    return true;
  }

  private used({ caller, keyId, expiresAt }: Recognised): Caller | undefined {
    const now = this.clock.now().getTime();
    if (expiresAt <= now) return undefined;
    this.onUse(keyId, now);
    return caller;
  }
}
