import { type CommandMeta, reject } from '@app/kernel';
import type { Participants } from '../conversation/conversation.commands';
import type { Question } from './question';
import type { RecordedTurns } from './recorded-turns';
import type { Turn } from './turn';
import type { TurnClaims } from './turn-claims';
import { turnElsewhere, type TurnElsewhereParts } from './turn-elsewhere';

/** The result of a repeated question for a turn that this process does not run. */
export class TurnRepeats {
  constructor(
    private readonly parts: Omit<TurnElsewhereParts, 'claims'>,
    private readonly recorded: RecordedTurns,
    private readonly claims: TurnClaims,
  ) {}

  /** A turn that another process runs, or ran. */
  elsewhere(conversationId: string, answerId: string, meta: CommandMeta): Turn {
    return turnElsewhere({ ...this.parts, claims: this.claims }, conversationId, answerId, meta);
  }

  /**
   * The turn of a question that was recorded before; undefined if it must be answered again, because its process died
   * before any tool call. Rejects `not_found` if it was deleted.
   */
  async earlier(
    participants: Participants,
    conversationId: string,
    answerId: string,
    meta: CommandMeta,
  ): Promise<(() => Turn) | undefined> {
    const state = await this.recorded.own(participants, conversationId);
    const open = state.open.get(answerId);
    if (open !== undefined)
      return open.parts.some(({ type }) => type === 'tool')
        ? () => this.elsewhere(conversationId, answerId, meta)
        : undefined;
    const turn = state.parents.has(answerId) ? await this.recorded.turn(conversationId, answerId) : undefined;
    return turn === undefined ? reject('not_found', { kind: 'message', id: answerId }) : () => turn;
  }

  /** The turn of a question whose answer is recorded, or waits, though its claim is not given back yet. Rejects `turn_in_progress` where it is still made. */
  async answered(
    question: Question,
    ids: Participants & { readonly conversationId: string; readonly answerId: string },
    meta: CommandMeta,
  ): Promise<Turn> {
    const { conversationId, answerId } = ids;
    const recorded = (await this.claims.isWaiting(conversationId, answerId))
      ? this.elsewhere(conversationId, answerId, meta)
      : await this.recorded.turn(conversationId, answerId);
    if (recorded === undefined) return reject('turn_in_progress');
    const messageId = await this.recorded.question(ids, conversationId, answerId);
    recorded.askedAt = (await this.recorded.ask(question, { ...ids, messageId }, meta)).position;
    return recorded;
  }
}
