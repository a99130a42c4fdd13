import { setTimeout as pause } from 'node:timers/promises';
import { type CommandMeta, type Decisions, reject, renewReadScope, unlessLeft } from '@app/kernel';
import { takesBack } from '../conversation/continuation';
import { conversationDecider } from '../conversation/conversation.decider';
import type { MessagePart } from '../conversation/message-parts';
import type { History } from './history';
import { recordedTurn, waitingTurn } from './recorded-turns';
import { Turn } from './turn';
import type { TurnClaims } from './turn-claims';

/** How often an answer that another process makes is looked at, milliseconds. */
const LOOK_MS = 200;

export interface TurnElsewhereParts {
  readonly decisions: Decisions;
  readonly history: History;
  readonly claims: Pick<TurnClaims, 'closeIfDead'>;
}

/**
 * A turn of another process, followed by what it saves; if that process dies, the turn is closed. If words were taken
 * back because their provider broke off and was called again, readers get `upstream_error`: the other process cannot
 * know of them.
 */
export const turnElsewhere = (
  { decisions, history, claims }: TurnElsewhereParts,
  conversationId: string,
  answerId: string,
  meta: CommandMeta,
): Turn =>
  new Turn(conversationId, answerId, async (tell, isHeard) => {
    let told: readonly MessagePart[] = [];
    const check = (parts: readonly MessagePart[]): void => {
      if (isHeard() && takesBack(told, parts)) reject('upstream_error');
    };
    for (;;) {
      renewReadScope();
      const loaded = await decisions.load(conversationDecider, conversationId);
      if (loaded.state.status !== 'Live') return reject('not_found', { kind: 'conversation', id: conversationId });
      const open = loaded.state.open.get(answerId);
      if (open === undefined) break;
      check(open.parts);
      told = open.parts;
      tell(told);
      if (open.isWaiting) return waitingTurn(conversationId, open, loaded);
      // While the claims are away nobody knows whether it is dead: it may be answered all the same.
      const isClosed = await unlessLeft(() => claims.closeIfDead(conversationId, answerId, meta));
      if (isClosed !== true) await pause(LOOK_MS);
    }
    const event =
      (await history.answer(conversationId, answerId)) ?? reject('not_found', { kind: 'message', id: answerId });
    const turn = recordedTurn(event);
    check(turn.answer.parts);
    return turn;
  });
