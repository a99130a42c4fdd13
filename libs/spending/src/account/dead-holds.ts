import { isUnavailable } from '@app/kernel';
import type { RecordedCost } from '../invocations/usage-stream';
import type { Account, Hold } from './account';
import type { Move } from './moves';

/** How long a process that is not heard of is waited for before its holds come free. */
const DOUBT_MS = 5_000;
/** How long moves wait for usage records; holds that these cannot tell of yet stay for now. */
const TIMEOUT_MS = 200;

export interface DeadHoldsParts {
  /** This process, and whether others live. */
  readonly processes: { readonly id: string; readonly alone: boolean; isAlive(id: string): boolean };
  /** What complete usage records say about a call of a dead process. Throws `Unavailable` while they are incomplete. */
  readonly recorded: (invocationId: string, hold: Hold) => Promise<RecordedCost | undefined>;
  readonly doubtMs?: number;
}

const NONE: readonly Move[] = [];

/** Ends what dead processes held in an account. */
export class DeadHolds {
  private readonly doubted = new Map<string, number>();
  /** By id of the call; null where nothing was recorded, undefined while that is asked. */
  private readonly known = new Map<string, RecordedCost | null | undefined>();

  constructor(private readonly parts: DeadHoldsParts) {}

  /** Moves that end holds of dead processes by what usage records say. */
  async moves(holds: Account['holds']): Promise<readonly Move[]> {
    for (const id of this.known.keys()) if (!holds.has(id)) this.known.delete(id);
    const dead: [string, Hold][] = [];
    for (const [id, hold] of holds)
      if (hold.by !== this.parts.processes.id && this.isDead(hold.by)) dead.push([id, hold]);
    if (dead.length === 0) return NONE;
    const asked = dead.filter(([id]) => !this.known.has(id)).map(([id, hold]) => this.ask(id, hold));
    if (asked.length > 0)
      await Promise.race([Promise.all(asked), new Promise((resolve) => setTimeout(resolve, TIMEOUT_MS).unref())]);
    return dead.flatMap(([id]): readonly Move[] => {
      const recorded = this.known.get(id);
      return recorded === undefined
        ? []
        : [
            {
              type: 'free',
              id,
              cost: recorded?.cost ?? null,
              position: recorded?.position ?? null,
              // A call that was never recorded adds nothing in any currency.
              currency: recorded?.currency ?? '',
            },
          ];
    });
  }

  private async ask(id: string, hold: Hold): Promise<void> {
    this.known.set(id, undefined);
    try {
      this.known.set(id, (await this.parts.recorded(id, hold)) ?? null);
    } catch (error) {
      this.known.delete(id);
      if (!isUnavailable(error)) throw error;
    }
  }

  /** A process that has just begun may not have been heard of yet. */
  private isDead(by: string): boolean {
    const { processes } = this.parts;
    if (processes.alone) return true;
    if (processes.isAlive(by)) {
      this.doubted.delete(by);
      return false;
    }
    const since = this.doubted.get(by) ?? performance.now();
    this.doubted.set(by, since);
    return performance.now() - since >= (this.parts.doubtMs ?? DOUBT_MS);
  }
}
