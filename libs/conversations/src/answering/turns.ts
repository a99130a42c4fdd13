import { setTimeout as pause } from 'node:timers/promises';
import {
  type Clock,
  type CommandMeta,
  type Decisions,
  deriveId,
  insistently,
  isUnavailable,
  refuse,
  renewReadScope,
  settlesWithin,
  stepOf,
  Unavailable,
  unlessLeft,
} from '@app/kernel';
import type { ChatMessage } from '@app/models';
import type { Claims, Release } from '@app/coordination';
import type { MeteredCall } from '@app/spending';
import { conversationDecider, type Answer, type Party } from '../conversation/conversation.decider';
import type { ConversationKind } from '../conversation/conversation.events';
import { textOf, type TextPart } from '../conversation/message-parts';
import { Stopped, type Answerer, type AnsweringAgent } from './answerer';
import type { History } from './history';
import { recordedTurn } from './recorded-turn';
import { SavedText } from './saved-text';
import { titleOf } from './title';
import { Turn, type FinishedTurn, type TurnEvent } from './turn';

export interface Question {
  /** Absent: a new conversation. */
  readonly conversationId?: string;
  readonly userId: string;
  /** The API key, if one was used. */
  readonly keyId?: string;
  readonly agent: AnsweringAgent;
  readonly parts: readonly TextPart[];
  readonly parentId?: string;
  readonly kind: ConversationKind;
  readonly channel: 'api' | 'web' | 'embed' | 'app';
  /** Whether the model is asked piece by piece. */
  readonly stream: boolean;
}

export interface TurnsParts {
  readonly decisions: Decisions;
  readonly history: History;
  readonly answerer: Answerer;
  readonly claims: Claims;
  readonly clock: Clock;
  readonly logger: { warn(facts: object, message: string): void };
}

/** How often an answer that another process makes is looked at, milliseconds. */
const LOOK_MS = 200;
/** How long whoever waits for an answer waits for the log to take it. */
const RECORD_MS = 5_000;
/** How long an answer whose process died is left to those who repeat its question, or ask the next. */
const ABANDONED_MS = 30_000;

/**
 * Questions and their answers. The question is recorded before the model is called, the answer when it is finished, failed
 * or was stopped; a conversation has one turn at a time. A turn whose process died is recorded as failed by the next question, or
 * where none comes (`closeAbandonedTurns`).
 */
export class Turns {
  private readonly running = new Map<string, { readonly turn: Turn; readonly stop: AbortController }>();

  constructor(private readonly parts: TurnsParts) {}

  /** Records the question and begins to answer. A repeat of the command joins its turn, or finds it finished. Refuses `usage_limit_exceeded`; then nothing is recorded. */
  async ask(question: Question, meta: CommandMeta): Promise<Turn> {
    const conversationId = question.conversationId ?? deriveId(meta.commandId, 'conversation');
    const answerId = deriveId(meta.commandId, 'answer');
    const party = { userId: question.userId, agentId: question.agent.agentId };
    await this.refuseForeign(conversationId, party);
    const running = this.running.get(conversationId);
    if (running?.turn.answerId === answerId) return running.turn;
    const release =
      (await this.parts.claims.take(claimOf(conversationId), () => this.stopHere(conversationId))) ??
      refuse('turn_in_progress');
    let metered: MeteredCall | undefined;
    try {
      await this.closeAbandoned(conversationId, answerId, meta);
      metered = await this.parts.answerer.reserve(
        question.agent,
        question,
        textOf(question.parts),
        await this.saidBefore(conversationId, question.parentId),
      );
      const messageId = deriveId(meta.commandId, 'message');
      const receipt = await this.parts.decisions.transact(
        conversationDecider,
        conversationId,
        askOf(question, { ...party, conversationId, answerId, messageId }),
        meta,
      );
      const recorded = receipt.repeated ? await this.recorded(conversationId, answerId) : undefined;
      if (recorded === undefined)
        return this.begin({ ...question, metered }, { conversationId, answerId, messageId }, meta, release);
      metered?.cancel();
      return await released(recorded, release);
    } catch (error) {
      metered?.cancel();
      // The question may stand in the log.
      await release({ isUnfinished: isUnavailable(error) && error.outcome === 'unknown' });
      throw error;
    }
  }

  /**
   * The turn with this answer, by default the one under way, to be followed from its beginning: wherever it runs, and also
   * when it is finished. One whose process died is recorded as failed with what was saved of it. Refuses `not_found`.
   */
  async resume(conversationId: string, answerId: string | undefined, meta: CommandMeta): Promise<Turn> {
    const running = this.running.get(conversationId)?.turn;
    if (running !== undefined && (answerId ?? running.answerId) === running.answerId) return running;
    const { state } = await this.parts.decisions.load(conversationDecider, conversationId);
    const open = state.status === 'Live' ? state.open?.answerId : undefined;
    const wanted = answerId ?? open ?? refuse('not_found', { kind: 'openAnswer', id: conversationId });
    if (wanted === open) return this.elsewhere(conversationId, wanted, meta);
    if (state.status !== 'Live' || !state.parents.has(wanted))
      return refuse('not_found', { kind: 'message', id: wanted });
    return (await this.recorded(conversationId, wanted)) ?? refuse('not_found', { kind: 'message', id: wanted });
  }

  /** Stops the running answer of a conversation, in any process. Its text is recorded. False if none runs. */
  async stop(conversationId: string): Promise<boolean> {
    return this.stopHere(conversationId) || this.parts.claims.ask(claimOf(conversationId));
  }

  /** Records as failed what was left unfinished half a minute ago, by processes that died or could not record it, and that nobody came back to. */
  async closeAbandonedTurns(): Promise<void> {
    const { claims, clock } = this.parts;
    await claims.finishAbandoned(CLAIM, ABANDONED_MS, (conversationId) => {
      const commandId = deriveId(conversationId, `abandoned/${clock.now().getTime()}`);
      return this.closeAbandoned(conversationId, '', {
        commandId,
        correlationId: commandId,
        actor: 'system:conversations',
        now: clock.now(),
      });
    });
  }

  /** Waits for running answers, and stops those that take longer. */
  async close(graceMs: number): Promise<void> {
    const all = [...this.running.values()];
    const timer = setTimeout(() => all.forEach(({ stop }) => stop.abort(new Stopped())), graceMs);
    await Promise.allSettled(all.map(({ turn }) => turn.finished));
    clearTimeout(timer);
  }

  private stopHere(conversationId: string): boolean {
    const running = this.running.get(conversationId);
    running?.stop.abort(new Stopped());
    return running !== undefined;
  }

  private async refuseForeign(conversationId: string, { userId, agentId }: Party): Promise<void> {
    const { state } = await this.parts.decisions.load(conversationDecider, conversationId);
    if (state.status === 'Live' && (state.userId !== userId || state.agentId !== agentId))
      refuse('not_found', { kind: 'conversation', id: conversationId });
  }

  /** With the claim in hand, an open turn is one whose process died; unless it is this very question, which is answered now. */
  private async closeAbandoned(conversationId: string, answerId: string, meta: CommandMeta): Promise<void> {
    const { state } = await this.parts.decisions.load(conversationDecider, conversationId);
    if (state.status !== 'Live' || state.open === null || state.open.answerId === answerId) return;
    const { said } = state.open;
    const lost: Omit<Answer, 'type' | 'answerId'> = {
      parts: said === '' ? [] : [{ type: 'text', text: said }],
      status: 'failed',
      finishReason: 'error',
      errorCode: 'unavailable',
      model: '',
      usage: null,
    };
    await this.parts.decisions.transact(
      conversationDecider,
      conversationId,
      { type: 'Answer', answerId: state.open.answerId, ...lost },
      stepOf(meta, 'abandoned'),
    );
  }

  /** The branch that a question goes on with: behind its parent, the last message by default. */
  private async saidBefore(conversationId: string, parentId: string | undefined): Promise<readonly ChatMessage[]> {
    const { state } = await this.parts.decisions.load(conversationDecider, conversationId);
    const last = parentId ?? (state.status === 'Live' ? state.last : null);
    return last === null ? [] : this.parts.history.branch(conversationId, last);
  }

  private begin(
    question: Question & { readonly metered: MeteredCall | undefined },
    ids: TurnIds,
    meta: CommandMeta,
    release: Release,
  ): Turn {
    const { conversationId, answerId, messageId } = ids;
    const stop = new AbortController();
    const saved = this.savedText(conversationId, answerId, meta);
    /** What is left unfinished leaves its claim standing; so does what ends while the claims are away. */
    const end = async (isUnfinished: boolean): Promise<void> => {
      this.running.delete(conversationId);
      await unlessLeft(() => release({ isUnfinished }));
    };
    const turn = new Turn(conversationId, answerId, async (say) => {
      const tell = (event: TurnEvent): void => {
        if (question.stream && event.type === 'text') saved.add(event.delta);
        say(event);
      };
      const answer = await this.answer(question, ids, stop.signal, tell).catch(async (error: unknown) => {
        await end(true);
        throw error;
      });
      await saved.end();
      const recording = insistently(() => this.record(conversationId, messageId, { answerId, ...answer }, meta));
      // Whatever the log does: who asked hears of it, and what was answered is recorded when it is back.
      const ended = recording.then(
        () => end(false),
        () => end(true),
      );
      if (!(await settlesWithin(RECORD_MS, ended)))
        throw new Unavailable('log', 'the answer is not recorded yet', 'unknown');
      return recording;
    });
    this.running.set(conversationId, { turn, stop });
    return turn;
  }

  private async answer(
    { agent, userId, keyId, stream, metered }: Question & { readonly metered: MeteredCall | undefined },
    { conversationId, messageId }: TurnIds,
    signal: AbortSignal,
    tell: (event: TurnEvent) => void,
  ): Promise<Omit<Answer, 'type' | 'answerId'>> {
    const messages = await this.parts.history.branch(conversationId, messageId).catch((error: unknown) => {
      metered?.cancel();
      throw error;
    });
    return this.parts.answerer.answer(
      agent,
      messages,
      { asker: { userId, ...(keyId === undefined ? {} : { keyId }) }, stream, signal, metered },
      tell,
    );
  }

  private async record(
    conversationId: string,
    parentId: string,
    answer: Omit<Answer, 'type'>,
    meta: CommandMeta,
  ): Promise<FinishedTurn> {
    const now = this.parts.clock.now();
    const receipt = await this.parts.decisions.transact(
      conversationDecider,
      conversationId,
      { type: 'Answer', ...answer },
      { ...stepOf(meta, 'answer'), now },
    );
    // Deleted while it was answered.
    if (receipt.eventIds.length === 0) return refuse('not_found', { kind: 'conversation', id: conversationId });
    return { conversationId, parentId, answer, createdAt: now.toISOString(), receipt };
  }

  private savedText(conversationId: string, answerId: string, meta: CommandMeta): SavedText {
    const { decisions, clock, logger } = this.parts;
    const save = (from: number, text: string) => {
      const now = clock.now();
      // A repeat of the question says it anew: these are steps of their own.
      return decisions.transact(
        conversationDecider,
        conversationId,
        { type: 'Continue', answerId, from, text },
        { ...stepOf(meta, `said/${from}/${now.getTime()}`), now },
      );
    };
    return new SavedText(save, (error) =>
      logger.warn({ conversationId, error }, 'Saving a streaming answer failed; retrying.'),
    );
  }

  /** A turn that finished before, as if it happened again. */
  private async recorded(conversationId: string, answerId: string): Promise<Turn | undefined> {
    const event = await this.parts.history.answer(conversationId, answerId);
    return event === undefined
      ? undefined
      : new Turn(conversationId, answerId, async (say) => recordedTurn(event, 0, say));
  }

  /** A turn that another process runs, by what it saves; when that process is dead the turn is closed. */
  private elsewhere(conversationId: string, answerId: string, meta: CommandMeta): Turn {
    return new Turn(conversationId, answerId, async (say) => {
      let heard = 0;
      for (;;) {
        renewReadScope();
        const { state } = await this.parts.decisions.load(conversationDecider, conversationId);
        if (state.status !== 'Live') return refuse('not_found', { kind: 'conversation', id: conversationId });
        if (state.open?.answerId !== answerId) break;
        const more = state.open.said.slice(heard);
        if (more !== '') say({ type: 'text', delta: more });
        heard += more.length;
        const release = await this.parts.claims.take(claimOf(conversationId));
        if (release === undefined) await pause(LOOK_MS);
        else await this.closeAbandoned(conversationId, '', meta).finally(release);
      }
      return recordedTurn(
        (await this.parts.history.answer(conversationId, answerId)) ??
          refuse('not_found', { kind: 'message', id: answerId }),
        heard,
        say,
      );
    });
  }
}

interface TurnIds {
  readonly conversationId: string;
  readonly answerId: string;
  readonly messageId: string;
}

const CLAIM = 'turn/';
const claimOf = (conversationId: string): string => CLAIM + conversationId;

const askOf = ({ conversationId: given, agent, parts, parentId, kind, channel }: Question, ids: Party & TurnIds) => ({
  type: 'Ask' as const,
  create: given === undefined,
  ...ids,
  spaceId: agent.spaceId,
  kind,
  title: titleOf(textOf(parts)),
  parts,
  channel,
  ...(parentId === undefined ? {} : { parentId }),
});

const released = async (turn: Turn, release: Release): Promise<Turn> => {
  await release();
  return turn;
};
