import { type Aggregates, type Clock, type Decisions, dataKeyPlace, idOf, type Ids, isDomainError } from '@app/kernel';
import type { EventLog } from '@app/event-log';
import type { ReadStore } from '@app/read-store';
import type { Vault } from '@app/vault';
import { destroyErased } from './destroy-erased';

const PAGE = 500;
const CONCURRENCY = 50;
/** Stands beside the views: that this was done. */
const DONE = 'erasures-finished';
/** Beside it: the last receipt of an erasure. Where that is not in the log, an older one was put in its place. */
const LAST_RECEIPT = 'last-erasure-receipt';

/** 1.5.0 wrote the time alone, which says nothing of the log. `receipt`: the last one since, until it stood by itself. */
type Done = { readonly at: string; readonly receipt: string | null };

/** Notes the stream of a receipt of an erasure before it is written: one that is cut short there is not in the log, and erasures are reapplied once more. */
export const noteReceipt = async (readStore: Pick<ReadStore, 'writeState'>, receipt: string): Promise<void> =>
  void (await readStore.writeState(LAST_RECEIPT, receipt));

export interface ReapplyErasuresParts {
  readonly decisions: Decisions;
  readonly log: Pick<EventLog, 'readAll' | 'readStream'>;
  readonly vault: Pick<Vault, 'destroy' | 'destroyed' | 'note' | 'setNote'>;
  readonly readStore: Pick<ReadStore, 'readState' | 'writeState'>;
  readonly aggregates: Aggregates;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly logger: Record<'info' | 'warn', (facts: object, message: string) => void>;
}

/**
 * Where log and vault are not of one time. Destroys again the keys of what the log knows as deleted, if the vault is the older. Deletes
 * again what a restored or imported log shows as living though the vault knows that it was erased after the backup: its
 * content cannot come back, and the empty aggregate must not either. Policies delete what belongs to it, as after any deletion.
 */
export class ReapplyErasures {
  constructor(private readonly parts: ReapplyErasuresParts) {}

  async run(): Promise<void> {
    await destroyErased(this.parts);
    await this.deleteAgain();
  }

  /** Once for each log: a log that holds the last receipt is the one that this was done for. */
  private async deleteAgain(): Promise<void> {
    const { log, vault, readStore, clock } = this.parts;
    const done = (await readStore.readState(DONE)) as Done | string | undefined;
    const noted = (await readStore.readState(LAST_RECEIPT)) as string | undefined;
    if (typeof done === 'object') {
      const last = noted ?? done.receipt;
      if (last === null || (await log.readStream(last, { limit: 1 })).length > 0) return;
    }
    await readStore.writeState(DONE, null);
    // Unless another one was noted since.
    if (noted !== undefined) await readStore.writeState(LAST_RECEIPT, null, { expected: noted });
    for (let after: string | null = null; ;) {
      const page = await vault.destroyed(after, PAGE);
      for (let from = 0; from < page.length; from += CONCURRENCY)
        await Promise.all(page.slice(from, from + CONCURRENCY).map(({ stream }) => this.finish(stream)));
      if (page.length < PAGE) break;
      after = page.at(-1)?.stream ?? null;
    }
    await readStore.writeState(DONE, { at: clock.now().toISOString(), receipt: null } satisfies Done);
  }

  /** By the name of the destroyed key: of a stream, or of an entity in one that goes on without it. */
  private async finish(key: string): Promise<void> {
    const { aggregates, log, decisions, ids, clock, logger } = this.parts;
    const { stream, entity } = dataKeyPlace(key);
    const remove = aggregates.deletionOf(key);
    const [last] = remove === undefined ? [] : await log.readStream(stream, { direction: 'backwards', limit: 1 });
    if (remove === undefined || last === undefined || aggregates.endingTypes.includes(last.type)) return;
    if (entity !== undefined && (await log.readStream(stream)).some((event) => aggregates.erases(event, key))) return;
    const commandId = ids.next();
    logger.warn(
      { stream, ...(entity === undefined ? {} : { entity }) },
      'Deleting again: this was erased after the restored backup was made.',
    );
    await remove(decisions, idOf(stream), {
      commandId,
      correlationId: commandId,
      actor: 'system:restore',
      now: clock.now(),
    }).catch(unlessGone);
  }
}

/** The policies of the Space or user that it belongs to may be faster. */
const unlessGone = (error: unknown): void => {
  if (!isDomainError(error, 'not_found')) throw error;
};
