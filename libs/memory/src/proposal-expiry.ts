import { type Clock, CLOCK, Decisions, eachOfAll } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { OPEN_PROPOSALS, type OpenProposals } from './lookups';
import { Forgetting } from './memory/forgetting';
import { memoryDecider } from './memory/memory.decider';

/** How often proposals that lapsed are looked for, and how many are discarded at once. */
const EVERY_MS = 60_000;
const AT_ONCE = 500;

/** Discards proposals that nobody chose anything for in time. */
@Injectable()
export class ProposalExpiry {
  private lookedAt = 0;

  constructor(
    private readonly decisions: Decisions,
    private readonly forgetting: Forgetting,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(OPEN_PROPOSALS) private readonly proposals: OpenProposals,
  ) {}

  /** Discards those that lapsed by now. A choice that is faster stands. */
  async discardExpired(): Promise<void> {
    const now = this.clock.now();
    if (Math.abs(now.getTime() - this.lookedAt) < EVERY_MS) return;
    this.lookedAt = now.getTime();
    await eachOfAll(await this.proposals.firstToExpire(AT_ONCE), async ({ memoryId, expiresAt }) => {
      if (Date.parse(expiresAt) > now.getTime()) return false;
      const { state } = await this.decisions.load(memoryDecider, memoryId);
      if (state.status === 'proposed') await this.forgetting.expire(memoryId, state, now);
      return true;
    });
  }
}
