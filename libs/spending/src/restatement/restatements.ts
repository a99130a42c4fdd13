import { EVENT_LOG } from '@app/event-log';
import {
  type CommandMeta,
  Decisions,
  deriveId,
  EventCodec,
  type Receipt,
  type StreamReader,
  stepOf,
} from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import type { RecordedInvocation } from '../invocations/invocation.events';
import { CALLS_BEHIND } from '../lookups';
import { modelsNamed, type OfferedPrices, priceHistory, pricesFor, restatedUnder } from './price-book';
import {
  type LedgerPlace,
  type OpenRestatement,
  restatementDecider,
  type RestatementTerms,
} from './restatement.decider';

/**
 * The calls of a period after a place, ordered by their start, then by id; in pages of at most some hundred, each of
 * which becomes an event.
 */
export type CallsBehind = (
  period: { readonly from: string; readonly to: string },
  place: LedgerPlace | null,
) => AsyncIterable<readonly RecordedInvocation[]>;

/** The id of the restatement that a command makes. */
export const restatementId = (meta: CommandMeta): string => deriveId(meta.commandId, 'restatement');

/** Writes second ledgers: what the calls of a period cost under other prices. */
@Injectable()
export class Restatements {
  constructor(
    private readonly decisions: Decisions,
    @Inject(EVENT_LOG) private readonly log: StreamReader,
    private readonly codec: EventCodec,
    @Inject(CALLS_BEHIND) private readonly callsBehind: CallsBehind,
  ) {}

  /**
   * Writes the stream `restatement-<id>`. The same command continues after an interruption, and adds nothing to a
   * closed ledger. Rejects `invalid_body` if a price version is named that its model never had.
   */
  async restate(terms: RestatementTerms, meta: CommandMeta): Promise<Receipt> {
    const { decisions } = this;
    const id = restatementId(meta);
    for (const model of modelsNamed(terms.prices)) await this.prices(model, terms);
    await decisions.transact(restatementDecider, id, { type: 'Begin', restatementId: id, terms }, meta);
    return this.finish(id, meta);
  }

  /** Continues an unfinished restatement; others may do so at the same time. */
  async finish(id: string, meta: CommandMeta): Promise<Receipt> {
    const { decisions } = this;
    for (;;) {
      const { state } = await decisions.load(restatementDecider, id);
      const after = state.status === 'open' ? await this.enterAll(id, state, meta) : null;
      const receipt = await decisions.transact(restatementDecider, id, { type: 'Close', after }, stepOf(meta, 'close'));
      if ((await decisions.load(restatementDecider, id)).state.status !== 'open') return receipt;
    }
  }

  /** Enters the rest, up to the place where others entered something else. Returns the last call that was read. */
  private async enterAll(
    id: string,
    { terms, place }: OpenRestatement,
    meta: CommandMeta,
  ): Promise<LedgerPlace | null> {
    const { decisions } = this;
    const known = new Map<string, OfferedPrices | undefined>();
    let after = place;
    for await (const page of this.callsBehind(terms, place)) {
      const invocations = page.filter(({ currency }) => currency === terms.currency);
      for (const { model } of invocations) if (!known.has(model)) known.set(model, await this.prices(model, terms));
      const calls = invocations.map((invocation) => restatedUnder(invocation, known.get(invocation.model)));
      const last = calls.at(-1);
      if (last === undefined) continue;
      await decisions.transact(
        restatementDecider,
        id,
        { type: 'Enter', after, calls },
        stepOf(meta, `behind ${after?.id ?? 'nothing'}`),
      );
      after = { at: last.at, id: last.id };
      const { state } = await decisions.load(restatementDecider, id);
      // If calls were recorded late, pages of other processes end elsewhere: the next page begins after theirs.
      if (state.status !== 'open' || state.place?.id !== last.id) return after;
    }
    return after;
  }

  private async prices(model: string, { prices }: RestatementTerms): Promise<OfferedPrices | undefined> {
    return pricesFor(model, await priceHistory(this.log, this.codec, model), prices);
  }
}
