import { setTimeout as pause } from 'node:timers/promises';
import type { Claims, Release } from '@app/coordination';
import {
  type CommandMeta,
  deriveId,
  retryUntilAnswered,
  isUnavailable,
  reject,
  renewReadScope,
  settlesWithin,
  Unavailable,
  unlessLeft,
} from '@app/kernel';
import type { MeteredCall } from '@app/spending';
import { conversationDecider, type Answer } from '../conversation/conversation.decider';
import { textOf } from '../conversation/message-parts';
import { Stopped, type Answerer } from './answerer';
import { type Question, RecordedTurns, type RecordedTurnsParts, recordedTurn, type TurnIds } from './recorded-turns';
import { Turn, type TurnEvent } from './turn';

export interface TurnsParts extends RecordedTurnsParts {
  readonly answerer: Answerer;
  readonly claims: Claims;
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

  private readonly recorded: RecordedTurns;

  constructor(private readonly parts: TurnsParts) {
    this.recorded = new RecordedTurns(parts);
  }

  /** Records the question and begins to answer. A repeat of the command joins its turn, or finds it finished. Rejects `usage_limit_exceeded`; then nothing is recorded. */
  async ask(question: Question, meta: CommandMeta): Promise<Turn> {
    const conversationId = question.conversationId ?? deriveId(meta.commandId, 'conversation');
    const answerId = deriveId(meta.commandId, 'answer');
    const party = { userId: question.userId, agentId: question.agent.agentId };
    await this.recorded.rejectForeign(conversationId, party);
    const running = this.running.get(conversationId);
    if (running?.turn.answerId === answerId) return running.turn;
    const release =
      (await this.parts.claims.take(claimOf(conversationId), () => this.stopHere(conversationId))) ??
      reject('turn_in_progress');
    let metered: MeteredCall | undefined;
    try {
      await this.recorded.closeAbandoned(conversationId, answerId, meta);
      metered = await this.parts.answerer.reserve(
        question.agent,
        question,
        textOf(question.parts),
        await this.recorded.saidBefore(conversationId, question.parentId),
      );
      const messageId = deriveId(meta.commandId, 'message');
      const receipt = await this.recorded.ask(question, { ...party, conversationId, answerId, messageId }, meta);
      const recorded = receipt.repeated ? await this.recorded.turn(conversationId, answerId) : undefined;
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
   * when it is finished. One whose process died is recorded as failed with what was saved of it. Rejects `not_found`.
   */
  async resume(conversationId: string, answerId: string | undefined, meta: CommandMeta): Promise<Turn> {
    const running = this.running.get(conversationId)?.turn;
    if (running !== undefined && (answerId ?? running.answerId) === running.answerId) return running;
    const { state } = await this.parts.decisions.load(conversationDecider, conversationId);
    const open = state.status === 'Live' ? state.open?.answerId : undefined;
    const wanted = answerId ?? open ?? reject('not_found', { kind: 'openAnswer', id: conversationId });
    if (wanted === open) return this.elsewhere(conversationId, wanted, meta);
    if (state.status !== 'Live' || !state.parents.has(wanted))
      return reject('not_found', { kind: 'message', id: wanted });
    return (await this.recorded.turn(conversationId, wanted)) ?? reject('not_found', { kind: 'message', id: wanted });
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
      return this.recorded.closeAbandoned(conversationId, '', {
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

  private begin(
    question: Question & { readonly metered: MeteredCall | undefined },
    ids: TurnIds,
    meta: CommandMeta,
    release: Release,
  ): Turn {
    const { conversationId, answerId, messageId } = ids;
    const stop = new AbortController();
    const saved = this.recorded.savedText(conversationId, answerId, meta);
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
      const recording = retryUntilAnswered(() =>
        this.recorded.record(conversationId, messageId, { answerId, ...answer }, meta),
      );
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

  /** A turn that another process runs, by what it saves; when that process is dead the turn is closed. */
  private elsewhere(conversationId: string, answerId: string, meta: CommandMeta): Turn {
    return new Turn(conversationId, answerId, async (say) => {
      let heard = 0;
      for (;;) {
        renewReadScope();
        const { state } = await this.parts.decisions.load(conversationDecider, conversationId);
        if (state.status !== 'Live') return reject('not_found', { kind: 'conversation', id: conversationId });
        if (state.open?.answerId !== answerId) break;
        const more = state.open.said.slice(heard);
        if (more !== '') say({ type: 'text', delta: more });
        heard += more.length;
        const release = await this.parts.claims.take(claimOf(conversationId));
        if (release === undefined) await pause(LOOK_MS);
        else
          try {
            await this.recorded.closeAbandoned(conversationId, '', meta);
          } finally {
            await release();
          }
      }
      return recordedTurn(
        (await this.parts.history.answer(conversationId, answerId)) ??
          reject('not_found', { kind: 'message', id: answerId }),
        heard,
        say,
      );
    });
  }
}

const CLAIM = 'turn/';
const claimOf = (conversationId: string): string => CLAIM + conversationId;

const released = async (turn: Turn, release: Release): Promise<Turn> => {
  await release();
  return turn;
};
