import { type CommandMeta, type Decisions, deriveId, offBudget, reject, stepOf } from '@app/kernel';
import { type ChatMessage, seesImages } from '@app/models';
import { LRUCache } from 'lru-cache';
import type { Invocation } from '../conversation/checkpoint.events';
import { checkpointSince } from '../conversation/checkpoints';
import { conversationDecider } from '../conversation/conversation.decider';
import type { AnsweringAgent, AnsweringModels } from './answering';
import {
  type BranchContext,
  type BranchContexts,
  chatMessagesOf,
  contextTokens,
  fitting,
  isOver,
  KEPT,
  skillsLoadedIn,
  tokensIn,
} from './branch-context';
import { beginningOf, boundaryFor, transcriptOf } from './compaction';
import { ProvenanceRecorder } from './provenance-recorder';
import type { Requester } from './retriever';
import type { SaidMessage } from './said-message';
import type { Summariser } from './summariser';

/** After a failed summary, questions continue without one for this long, so each does not wait for the same failure. */
const AFTER_FAILURE_MS = 60_000;

export interface CompactorParts {
  readonly decisions: Decisions;
  readonly contexts: BranchContexts;
  readonly summariser: Summariser;
  readonly models: Pick<AnsweringModels, 'catalogue'>;
  /** `CONVERSATION_CONTEXT_TOKENS`. */
  readonly budget: number | undefined;
  readonly logger: { warn(facts: object, message: string): void };
}

/** By which model, whose window is the budget. */
type Answered = Pick<AnsweringAgent, 'model'>;

/** A turn whose branch may be compacted. */
export interface CompactedTurn {
  readonly conversationId: string;
  readonly agent: AnsweringAgent;
  readonly requester: Requester;
  readonly signal: AbortSignal;
}

/** A summary that was asked for, and who waits for it. */
interface UnderWay {
  readonly made: Promise<string>;
  readonly left: AbortController;
  waiting: number;
}

/** What an answer is made from, and what summarising took. */
export interface AnswerContext extends BranchContext {
  readonly invocations: readonly Invocation[];
}

/**
 * Keeps the history for a model within a budget of tokens: above it, the beginning is summarised, and a checkpoint is
 * recorded. A failed summary does not change the conversation.
 */
export class Compactor {
  /** By conversation and the end of its branch. */
  private readonly underWay = new Map<string, UnderWay>();
  private readonly failed = new LRUCache<string, true>({ max: 10_000, ttl: AFTER_FAILURE_MS });

  constructor(private readonly parts: CompactorParts) {}

  /** Tokens that the history of an Agent's conversations may take. */
  budgetOf({ model }: Answered): number {
    const { models, defaultModel } = this.parts.models.catalogue;
    return contextTokens(this.parts.budget, models.get(model ?? defaultModel)?.contextWindow);
  }

  /** The present history before a question, for a model. */
  before(conversationId: string, parentId: string | null | undefined, by: Answered): Promise<BranchContext> {
    return this.contextOf(conversationId, parentId, by);
  }

  /**
   * The part of a conversation that fits into the budget, without a new summary; `ids`: of its messages and its
   * checkpoint.
   */
  async shown(
    conversationId: string,
    by: Answered,
  ): Promise<{ readonly messages: readonly ChatMessage[]; readonly ids: readonly string[] }> {
    const context = await fitting(await this.before(conversationId, undefined, by), this.budgetOf(by));
    const { newestFirst, summary } = context;
    const ids = newestFirst.map(({ messageId }) => messageId);
    return { messages: chatMessagesOf(context), ids: summary === null ? ids : [...ids, summary.checkpointId] };
  }

  /** The branch of a question for a model: summarised if it is too long, or else the part that fits. */
  async within(turn: CompactedTurn, last: string, meta: CommandMeta): Promise<AnswerContext> {
    const { logger } = this.parts;
    const { conversationId } = turn;
    const budget = this.budgetOf(turn.agent);
    const context = await this.contextOf(conversationId, last, turn.agent);
    if (!(await isOver(context, budget))) return { ...context, invocations: [] };
    if (!this.failed.has(conversationId))
      try {
        const compacted = await this.compact(turn, context, budget * KEPT, false, meta);
        if (compacted !== undefined) return compacted;
      } catch (error) {
        if (!turn.signal.aborted) {
          this.failed.set(conversationId, true);
          logger.warn(
            { conversationId, error },
            'Summarising a conversation failed. The answer uses the newest messages that fit.',
          );
        }
      }
    // What was deleted while a summary was made is shown to no model.
    const left = await this.contextOf(conversationId, last, turn.agent);
    return { ...(await fitting(left, budget)), invocations: [] };
  }

  /**
   * Summarises the branch that was continued last, except its end, and records the summary. Returns the id of the
   * checkpoint. It is the same for repeats of the command, and for all callers during that time: this process makes one
   * for them, and if several processes make one, only one is recorded. The work stops when the last caller leaves. If
   * nothing is left to summarise, it returns the newest checkpoint; without one it rejects `conflict`. Throws the
   * errors of summarising.
   */
  async byHand(turn: CompactedTurn, meta: CommandMeta): Promise<string> {
    const { conversationId } = turn;
    const checkpointId = checkpointIdOf(meta);
    const { state, revision } = await this.parts.decisions.load(conversationDecider, conversationId);
    if (state.status === 'Live' && state.checkpoints.has(checkpointId)) return checkpointId;
    // Before a model is paid for it: it is recorded as a step, which leaves `If-Match` out.
    if (meta.ifRevision !== undefined && meta.ifRevision !== revision)
      return reject('precondition_failed', { expected: meta.ifRevision, actual: revision });
    const tip = state.status === 'Live' ? state.last : null;
    // If nothing was said since, the newest summary is the result.
    const newest = state.status === 'Live' && tip !== null ? checkpointSince(tip, state) : undefined;
    if (newest !== undefined) return newest.checkpointId;
    return this.joined(`${conversationId}/${tip}`, turn.signal, (signal) =>
      this.madeByHand({ ...turn, signal }, tip, meta),
    );
  }

  /** Hears what an answer is made from. */
  recorder(
    agent: AnsweringAgent,
    context: AnswerContext,
    beside: ConstructorParameters<typeof ProvenanceRecorder>[3],
  ): ProvenanceRecorder {
    return new ProvenanceRecorder(agent, context, this.parts.models.catalogue, beside);
  }

  /** Joins the summary that is under way, or begins it. */
  private joined(key: string, left: AbortSignal, begin: (signal: AbortSignal) => Promise<string>): Promise<string> {
    const underWay = this.underWay.get(key) ?? this.begun(key, begin);
    underWay.waiting += 1;
    const leave = (): void => {
      underWay.waiting -= 1;
      if (underWay.waiting > 0) return;
      // No caller joins work that is about to fail.
      this.forget(key, underWay);
      underWay.left.abort();
    };
    if (left.aborted) leave();
    else left.addEventListener('abort', leave, { once: true });
    return underWay.made;
  }

  private begun(key: string, begin: (signal: AbortSignal) => Promise<string>): UnderWay {
    const left = new AbortController();
    const underWay: UnderWay = { made: begin(left.signal), left, waiting: 0 };
    this.underWay.set(key, underWay);
    const end = (): void => this.forget(key, underWay);
    underWay.made.then(end, end);
    return underWay;
  }

  private forget(key: string, underWay: UnderWay): void {
    if (this.underWay.get(key) === underWay) this.underWay.delete(key);
  }

  private async madeByHand(turn: CompactedTurn, tip: string | null, meta: CommandMeta): Promise<string> {
    const budget = this.budgetOf(turn.agent);
    const context = await this.contextOf(turn.conversationId, tip, turn.agent);
    // Also where all of it would fit: somebody wants it shorter.
    const keep = Math.min(budget, await tokensIn(context)) * KEPT;
    const compacted = await offBudget(() => this.compact(turn, context, keep, true, meta));
    // If nothing is left to summarise, the newest summary is the result.
    const { checkpointId } =
      compacted?.summary ?? context.summary ?? reject('conflict', { reason: 'nothing_to_summarise' });
    return checkpointId;
  }

  private contextOf(conversationId: string, last: string | null | undefined, by: Answered): Promise<BranchContext> {
    const { models, defaultModel } = this.parts.models.catalogue;
    const model = models.get(by.model ?? defaultModel);
    const budget = { tokens: this.budgetOf(by), seesImages: model !== undefined && seesImages(model) };
    return this.parts.contexts.of(conversationId, last, budget);
  }

  private async compact(
    { conversationId, agent, requester, signal }: CompactedTurn,
    context: BranchContext,
    keep: number,
    isAskedFor: boolean,
    meta: CommandMeta,
  ): Promise<AnswerContext | undefined> {
    const { newestFirst, summary } = context;
    const boundary = await boundaryFor(newestFirst, keep, context.seesImages);
    if (boundary === undefined) return undefined;
    const at = newestFirst.findIndex(({ messageId }) => messageId === boundary.messageId);
    const cut = newestFirst[at] as SaidMessage;
    const older = [cut.before(boundary), ...newestFirst.slice(at + 1)].filter(({ isEmpty }) => !isEmpty);
    const oldest = newestFirst.at(-1) as SaidMessage;
    if (older.length === 0 || isSame(boundary, beginningOf(oldest))) return undefined;
    const transcript = transcriptOf(older.toReversed());
    const budget = this.budgetOf(agent);
    const before = summary?.text ?? null;
    const made = await this.parts.summariser.summarise({
      agent,
      requester,
      before,
      transcript: context.isCut ? ['[What was said before this is not known any more.]', ...transcript] : transcript,
      // Attachments are notes in it.
      tokens: await tokensIn({ newestFirst: older, summary: null, seesImages: false }),
      budget,
      isAskedFor,
      signal,
    });
    const kept = [...newestFirst.slice(0, at), cut.after(boundary)].filter(({ isEmpty }) => !isEmpty);
    const checkpointId = checkpointIdOf(meta);
    const skillIds = [...new Set([...context.skillIds, ...skillsLoadedIn(older)])];
    const after = { ...context, newestFirst: kept, summary: { checkpointId, text: made.text }, skillIds };
    const { decisions } = this.parts;
    await decisions.transact(
      conversationDecider,
      conversationId,
      {
        type: 'Compact',
        checkpointId,
        previousId: summary?.checkpointId ?? null,
        boundary,
        messageIds: older.map(({ messageId }) => messageId),
        summary: made.text,
        tokensBefore: await tokensIn(context),
        tokensAfter: await tokensIn(after),
        model: made.model,
        invocations: made.invocations,
        skillIds,
      },
      stepOf(meta, 'checkpoint'),
    );
    // Not `after`: messages after the boundary may have been deleted meanwhile. If nothing was recorded, another
    // process was faster, or its source was deleted.
    const recorded = await this.contextOf(conversationId, newestFirst[0]?.messageId, agent);
    const isNew = recorded.summary !== null && recorded.summary.checkpointId !== summary?.checkpointId;
    return isNew ? { ...recorded, invocations: made.invocations } : undefined;
  }
}

const checkpointIdOf = ({ commandId }: CommandMeta): string => deriveId(commandId, 'checkpoint');

const isSame = (a: { part: number; offset: number; messageId: string }, b: typeof a): boolean =>
  a.messageId === b.messageId && a.part === b.part && a.offset === b.offset;
