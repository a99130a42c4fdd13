import type { Position } from '@app/kernel';
import type { Hold } from '../account/account';
import type { CallReservation } from '../account/account.events';
import { lostCall } from './recorded-calls';
import { INVOCATIONS_AT_ONCE, type RecordedCost, UsageStream, type UsageStreamParts } from './usage-stream';

/** A call that a dead process held for, with what is known of it. */
interface LostCall {
  readonly id: string;
  readonly hold: Hold & { readonly call: CallReservation };
}

interface Waiting extends LostCall {
  readonly resolve: (recorded: RecordedCost) => void;
  readonly reject: (error: unknown) => void;
}

export interface LostCallsParts extends UsageStreamParts {
  readonly currency: string;
  /** What usage records, complete up to now, say of a call. Throws `Unavailable` while they are not. */
  readonly recorded: (invocationId: string) => Promise<RecordedCost | undefined>;
  /**
   * Notified of each call that was recorded here. If this process dies before it handles that, limits without a
   * reservation of the call never learn of it.
   */
  readonly onRecorded: (id: string, call: CallReservation, recorded: RecordedCost) => void;
}

/**
 * Records calls of dead processes: as aborted, with the input that was counted before they began. Appends them to that
 * process's stream after its known records, so other processes, and that process if it is alive, find them.
 */
export class LostCalls {
  private readonly waiting = new Map<string, Waiting[]>();

  constructor(private readonly parts: LostCallsParts) {}

  /**
   * The record of a call of a dead process, created if there is none; undefined if that is impossible. Throws
   * `Unavailable` while records are incomplete.
   */
  recorded(id: string, { call, ...hold }: Hold): Promise<RecordedCost | undefined> {
    if (call === undefined) return this.parts.recorded(id);
    return new Promise((resolve, reject) => {
      const lost: Waiting = { id, hold: { ...hold, call }, resolve, reject };
      const others = this.waiting.get(hold.by);
      if (others !== undefined) return void others.push(lost);
      this.waiting.set(hold.by, [lost]);
      void this.run(hold.by);
    });
  }

  private async run(processId: string): Promise<void> {
    // What asks in the same turn is recorded together.
    await Promise.resolve();
    const stream = new UsageStream(this.parts, processId);
    for (let batch = this.next(processId); batch.length > 0; batch = this.next(processId)) {
      try {
        await this.settle(stream, batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
  }

  private next(processId: string): readonly Waiting[] {
    const batch = this.waiting.get(processId)?.splice(0, INVOCATIONS_AT_ONCE) ?? [];
    if (batch.length === 0) this.waiting.delete(processId);
    return batch;
  }

  private async settle(stream: UsageStream, batch: readonly Waiting[]): Promise<void> {
    for (;;) {
      const end = await stream.end();
      const known = new Map(
        await Promise.all(batch.map(async ({ id }) => [id, await this.parts.recorded(id)] as const)),
      );
      // Several accounts hold for one call.
      const lost = [
        ...new Map(batch.filter(({ id }) => known.get(id) === undefined).map((each) => [each.id, each])).values(),
      ];
      const appended =
        lost.length === 0
          ? { position: '' }
          : await stream.record(
              lost.map(({ id, hold }) => lostCall(id, hold, this.parts.currency)),
              end,
            );
      if (appended === undefined) continue;
      for (const { id, hold, resolve } of batch) resolve(known.get(id) ?? this.costOf(hold.call, appended.position));
      for (const { id, hold } of lost) this.parts.onRecorded(id, hold.call, this.costOf(hold.call, appended.position));
      return;
    }
  }

  private costOf({ cost, currency = this.parts.currency }: CallReservation, position: Position): RecordedCost {
    return { cost: BigInt(cost), currency, position };
  }
}
