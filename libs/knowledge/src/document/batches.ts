import { Claims } from '@app/coordination';
import {
  type Clock,
  CLOCK,
  type CommandMeta,
  Decisions,
  deriveId,
  isDomainError,
  reject,
  stepOf,
  Unavailable,
  unlessLeft,
} from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { documentDecider } from './document.decider';

/** Claims on documents that are being added or withdrawn, whatever their state. */
const ADDING = 'documents/adding/';
const WITHDRAWING = 'documents/withdrawing/';
/** Leave the batch of a dead process alone for this long. */
const ABANDONED_MS = 30_000;

/** The id of the n-th document that a command adds. */
export const addedDocumentId = ({ commandId }: Pick<CommandMeta, 'commandId'>, index: number): string =>
  deriveId(commandId, `document/${index}`);

/** Documents that one command adds, each in its own stream: all of them or, in the end, none, even if the process dies in between (`finish`). */
@Injectable()
export class Batches {
  constructor(
    private readonly decisions: Decisions,
    private readonly claims: Claims,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Runs the work that adds the documents of a command. If it fails, all are withdrawn. If they cannot be withdrawn
   * now, it throws `Unavailable` with an unknown outcome, and they are withdrawn later.
   */
  async add<T>(count: number, meta: CommandMeta, work: () => Promise<T>): Promise<T> {
    const batch = nameOf(meta.commandId, count);
    const release = (await this.claims.take(ADDING + batch)) ?? reject('conflict', { reason: 'concurrent_changes' });
    const result = await work().catch(async (error: unknown) => {
      const withdrawn = await unlessLeft(() => this.claims.take(WITHDRAWING + batch));
      const isUnfinished = (await unlessLeft(() => this.withdraw(meta.commandId, count, meta))) === undefined;
      await unlessLeft(async () => {
        await release({ isUnfinished });
        await withdrawn?.({ isUnfinished });
      });
      throw isUnfinished
        ? new Unavailable('log', 'some documents were added and could not be withdrawn', 'unknown', {
            cause: error,
          })
        : error;
    });
    // All of them are there: a claim that stays says nothing else.
    await unlessLeft(() => release());
    return result;
  }

  /** Withdraws the documents of batches that were abandoned half a minute ago, by dead processes or without a log. */
  async finish(): Promise<void> {
    await this.claims.finishAbandoned(WITHDRAWING, ABANDONED_MS, (batch) => this.withdrawLater(batch));
    await this.claims.finishAbandoned(ADDING, ABANDONED_MS, async (batch) => {
      const [commandId, count] = partsOf(batch);
      const states = await Promise.all(
        Array.from({ length: count }, async (_, index) =>
          this.decisions.load(documentDecider, addedDocumentId({ commandId }, index)),
        ),
      );
      if (states.some(({ state }) => state.status === 'Absent')) await this.withdrawLater(batch);
    });
  }

  private withdrawLater(batch: string): Promise<unknown> {
    const [commandId, count] = partsOf(batch);
    return this.withdraw(commandId, count, {
      commandId: deriveId(commandId, 'withdraw'),
      correlationId: commandId,
      actor: 'system:documents',
      now: this.clock.now(),
    });
  }

  /** Deletes the existing documents, all of them, before it fails for one that cannot be deleted now. */
  private async withdraw(commandId: string, count: number, meta: CommandMeta): Promise<true> {
    const removals = Array.from({ length: count }, async (_, index) => {
      try {
        await this.decisions.transact(
          documentDecider,
          addedDocumentId({ commandId }, index),
          { type: 'Delete' },
          stepOf(meta, `withdraw/${index}`),
        );
      } catch (error) {
        if (!isDomainError(error, 'not_found')) throw error;
      }
    });
    for (const removal of await Promise.allSettled(removals)) if (removal.status === 'rejected') throw removal.reason;
    return true;
  }
}

const nameOf = (commandId: string, count: number): string => `${commandId}/${count}`;
const partsOf = (batch: string): readonly [commandId: string, count: number] => {
  const [commandId = '', count] = batch.split('/');
  return [commandId, Number(count)];
};
