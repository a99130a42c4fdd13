import { setTimeout as pause } from 'node:timers/promises';
import type { Claims, Release } from '@app/coordination';
import { type Clock, type CommandMeta, deriveId, renewReadScope, Unavailable } from '@app/kernel';
import type { RecordedTurns } from './recorded-turns';

/** How long an answer to a call waits for others that are being recorded, milliseconds. */
const CLAIM_WAIT_MS = 2_000;
const CLAIM_LOOK_MS = 50;

/** Which process works on which turn; a turn whose process died is closed by whoever takes its claim. */
export class TurnClaims {
  constructor(
    private readonly claims: Claims,
    private readonly recorded: Pick<RecordedTurns, 'open' | 'closeAbandoned'>,
    private readonly clock: Clock,
  ) {}

  /** Undefined where a process works on the turn. `onAsked`: another one asks to stop it. */
  take(conversationId: string, answerId: string, onAsked?: () => void): Promise<Release | undefined> {
    return this.claims.take(claimOf(conversationId, answerId), onAsked);
  }

  /** The claim of a turn that nobody works on, for as long as others record something of it; `isTaken` says that waiting is in vain. */
  async takeSoon(conversationId: string, answerId: string, isTaken: () => boolean): Promise<Release | undefined> {
    for (const ends = performance.now() + CLAIM_WAIT_MS; ;) {
      const release = await this.take(conversationId, answerId);
      if (release !== undefined || performance.now() >= ends || isTaken()) return release;
      await pause(CLAIM_LOOK_MS);
    }
  }

  /** Throws `Unavailable` where a turn waits for its user though its claim is in hand: another request records something of it, or could not give it back yet. */
  async rejectHeld(conversationId: string, answerId: string): Promise<void> {
    renewReadScope();
    if (await this.isWaiting(conversationId, answerId))
      throw new Unavailable('coordination', 'another request is handling this answer');
  }

  /** Whether a turn waits for its user. */
  async isWaiting(conversationId: string, answerId: string): Promise<boolean> {
    const open = await this.recorded.open(conversationId);
    return open.some((turn) => turn.answerId === answerId && turn.isWaiting);
  }

  /** Asks the process that works on a turn to stop it. False where none does. */
  askToStop(conversationId: string, answerId: string): Promise<boolean> {
    return this.claims.ask(claimOf(conversationId, answerId));
  }

  /** Asks all processes that work on turns of a conversation to stop them. */
  askAllToStop(conversationId: string): Promise<void> {
    return this.claims.askAll(claimOf(conversationId, ''));
  }

  /** Closes a turn that no process works on. False where one does. */
  async closeIfDead(conversationId: string, answerId: string, meta: CommandMeta): Promise<boolean> {
    const release = await this.take(conversationId, answerId);
    if (release === undefined) return false;
    try {
      await this.recorded.closeAbandoned(conversationId, answerId, meta);
    } finally {
      await release();
    }
    return true;
  }

  /** Records as failed what processes left unfinished that died, or could not record it. */
  async closeAbandoned(): Promise<void> {
    const { claims, clock, recorded } = this;
    await claims.finishAbandoned(CLAIM, 0, async (rest) => {
      const [conversationId = '', answerId] = rest.split('/');
      const commandId = deriveId(rest, `abandoned/${clock.now().getTime()}`);
      const meta = { commandId, correlationId: commandId, actor: 'system:conversations', now: clock.now() };
      if (answerId !== undefined) return recorded.closeAbandoned(conversationId, answerId, meta);
      // Up to 1.5.0 a claim was of a whole conversation.
      for (const turn of await recorded.open(conversationId))
        await this.closeIfDead(conversationId, turn.answerId, meta);
    });
  }
}

const CLAIM = 'turn/';
const claimOf = (conversationId: string, answerId: string): string => `${CLAIM}${conversationId}/${answerId}`;
