import type { Release } from '@app/coordination';
import { type CommandMeta, retryUntilAnswered, settlesWithin, Unavailable } from '@app/kernel';
import type { ChatMessage } from '@app/models';
import type { MeteredCall } from '@app/spending';
import type { MessagePart } from '../conversation/message-parts';
import type { OpenTurn } from '../conversation/open-turns';
import type { ResumedAnswer } from '../conversation/tool-approvals';
import type { AnswerToMake } from './answer-run';
import type { Answerer } from './answerer';
import { type AnsweringAgent, type Outcome, Stopped } from './answering';
import type { ProvenanceRecorder } from './provenance-recorder';
import type { TurnIds } from './question';
import type { RecordedTurns } from './recorded-turns';
import type { Requester } from './retriever';
import { Turn } from './turn';
import type { TurnBeginning } from './turn-beginnings';

/** How long the log may take to record an answer before its caller stops waiting, milliseconds. */
const RECORD_MS = 5_000;

/** A turn to be worked on, whose claim is in hand. */
export interface TurnToRun {
  readonly ids: TurnIds;
  readonly agent: AnsweringAgent;
  readonly requester: Requester;
  /** What was held for its first call of the model. */
  readonly metered?: MeteredCall | undefined;
  /** Where it goes on after it waited. */
  readonly from?: OpenTurn;
  /** No memories, whatever the Agent has. */
  readonly memory?: 'off';
  readonly meta: CommandMeta;
  readonly release: Release;
}

export interface TurnContext {
  readonly begun: TurnBeginning;
  readonly messages: readonly ChatMessage[];
  readonly provenance: ProvenanceRecorder;
}

export interface RunningTurnsParts {
  readonly answerer: Answerer;
  readonly recorded: RecordedTurns;
  /** The conversation up to a question, with it, and the recorder of what the answer is made from. */
  readonly context: (turn: TurnToRun, signal: AbortSignal) => Promise<TurnContext>;
}

/** The running turns of this process. Each continues, is saved and recorded, with or without a reader. */
export class RunningTurns {
  /** By the ids of the answers, the oldest first. */
  private readonly running = new Map<string, { readonly turn: Turn; readonly stop: AbortController }>();

  constructor(private readonly parts: RunningTurnsParts) {}

  find(answerId: string): Turn | undefined {
    return this.running.get(answerId)?.turn;
  }

  /** Keeps what was said until then. False where the turn does not run here. */
  stop(answerId: string): boolean {
    const running = this.running.get(answerId);
    running?.stop.abort(new Stopped());
    return running !== undefined;
  }

  /** As `stop`, all of a conversation but those that are still `open`. */
  stopOthers(conversationId: string, open: { has(answerId: string): boolean }): void {
    for (const [answerId, { turn, stop }] of this.running)
      if (turn.conversationId === conversationId && !open.has(answerId)) stop.abort(new Stopped());
  }

  /** Waits for running answers, and stops those that take longer. */
  async close(graceMs: number): Promise<void> {
    const all = [...this.running.values()];
    const timer = setTimeout(() => all.forEach(({ stop }) => stop.abort(new Stopped())), graceMs);
    await Promise.allSettled(all.map(({ turn }) => turn.finished));
    clearTimeout(timer);
  }

  begin(begun: TurnToRun): Turn {
    const { ids, from, meta, release } = begun;
    const { recorded } = this.parts;
    const { conversationId, answerId, messageId } = ids;
    const stop = new AbortController();
    const saved = recorded.savedParts(ids, from?.parts ?? [], meta, () => stop.abort(new Stopped()));
    /** Unfinished turns keep their claims; so do turns that end while the claims are unavailable. */
    const end = async (isUnfinished: boolean): Promise<void> => {
      this.running.delete(answerId);
      await release({ isUnfinished });
    };
    const turn = new Turn(conversationId, answerId, async (tell, isHeard) => {
      const say = (parts: readonly MessagePart[]): void => {
        saved.changed(parts);
        tell(parts);
      };
      if (from !== undefined) tell(from.parts);
      const outcome = await this.answer(begun, stop.signal, {
        say,
        isHeard,
        save: () => saved.now(),
      }).catch(async (error: unknown) => {
        await end(true);
        throw error;
      });
      const more = await saved.end();
      const recording = retryUntilAnswered(async () => {
        if (outcome.status !== 'waiting')
          return recorded.record(conversationId, messageId, { ...outcome, answerId }, meta);
        const waits = await recorded.wait(ids, outcome, more, meta);
        // Callers who stopped it meanwhile were told that it stops; later ones find that it waits.
        if (stop.signal.aborted) return (await recorded.stopWaiting(conversationId, answerId, meta)) ?? waits;
        this.running.delete(answerId);
        return waits;
      });
      // If the log is slow, the reader learns that the answer is not recorded yet; it is recorded when the log is back.
      const ended = recording.then(
        () => end(false),
        () => end(true),
      );
      if (!(await settlesWithin(RECORD_MS, recording)))
        throw new Unavailable('log', 'the answer is not recorded yet', 'unknown');
      // A recorded answer is served even if the claim cannot be released now.
      await ended;
      return recording;
    });
    this.running.set(answerId, { turn, stop });
    return turn;
  }

  private async resumed({ parts, paused }: OpenTurn): Promise<{ readonly from?: ResumedAnswer }> {
    if (paused === undefined) return {};
    return { from: { parts, paused, passages: await this.parts.recorded.citable(paused) } };
  }

  private async answer(
    begun: TurnToRun,
    signal: AbortSignal,
    told: Pick<AnswerToMake, 'say' | 'isHeard' | 'save'>,
  ): Promise<Outcome> {
    const { agent, requester, metered, from } = begun;
    const { provenance, ...context } = await this.parts.context(begun, signal).catch((error: unknown) => {
      metered?.cancel();
      throw error;
    });
    const { answerer } = this.parts;
    const resumed = from === undefined ? {} : await this.resumed(from);
    const options = { signal, metered, provenance, mayWait: true, ...told, ...resumed };
    const outcome = await answerer.answer({ agent, requester, ...context, ...options });
    if (outcome.status === 'waiting') {
      const untilNow = provenance.untilNow(outcome.model);
      const { invocations } = provenance;
      return { ...outcome, invocations, ...(untilNow === undefined ? {} : { provenance: untilNow }) };
    }
    const madeFrom = await provenance.of(outcome);
    return madeFrom === undefined ? outcome : { ...outcome, provenance: madeFrom };
  }
}
