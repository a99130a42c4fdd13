import { DomainError, reject } from '@app/kernel';
import { type ChatRequest, userText } from '@app/models';
import type { Metering } from '@app/spending';
import type { Invocation } from '../conversation/checkpoint.events';
import type { AnsweringAgent, AnsweringModels } from './answering';
import { KEPT, tokensOfSummary } from './branch-context';
import { piecesOf } from './compaction';
import { MeteredCompletions } from './metered-completions';
import type { Requester } from './retriever';

/** Reserved output of a call: models that think produce more than a summary. */
const MOST_OUTPUT = 4_096;
/** A summary that takes longer is given up, milliseconds: while a question waits for it, and by hand. */
const TIMEOUT_MS = { meanwhile: 60_000, byHand: 300_000 };
/** Words of a summary at most, as the model is told. */
const WORDS = { least: 150, most: 1_500 };
/** Words of a summary per token of the budget. */
const SHARE = 1 / 16;

const QUESTION = 'Summarise this conversation.';
const instructions = (words: number): string =>
  'Summarise a conversation between a user and an assistant. The assistant will continue it with your summary alone. ' +
  `Write at most ${words} words of plain prose in the language of the conversation. Include what the user wants and prefers, facts, names, ` +
  'numbers, decisions, results of tools and documents, and what is still open. Keep what still matters from an earlier summary. ' +
  'Add nothing of your own, and write no introduction.';

/** What is to be summarised, and for whom. */
export interface ToSummarise {
  readonly agent: AnsweringAgent;
  readonly requester: Requester;
  /** The summary of what came before. */
  readonly before: string | null;
  /** What came since, oldest first. */
  readonly transcript: readonly string[];
  /** Tokens of the transcript. */
  readonly tokens: number;
  /** Tokens of it that a call may take in: a model's window has more, for the earlier summary and for what is made. */
  readonly budget: number;
  /** Somebody requested this very summary. */
  readonly isAskedFor: boolean;
  readonly signal: AbortSignal;
}

export interface Summarised {
  readonly text: string;
  readonly model: string;
  readonly invocations: readonly Invocation[];
}

/** Summarises conversations by the model of their Agent, piece by piece where one call cannot take all. Each call is metered. */
export class Summariser {
  private readonly completions: MeteredCompletions;

  constructor(
    private readonly models: AnsweringModels,
    metering: Metering,
    currency: string,
    private readonly timeouts: typeof TIMEOUT_MS = TIMEOUT_MS,
  ) {
    this.completions = new MeteredCompletions(models, metering, currency);
  }

  /**
   * Throws `usage_limit_exceeded`; `upstream_error`, also for a summary that leaves the budget no room for what stays verbatim;
   * `upstream_timeout`, also where all of it takes too long; `model_not_available`, or the signal's reason.
   */
  async summarise(asked: ToSummarise): Promise<Summarised> {
    const timeout = AbortSignal.timeout(asked.isAskedFor ? this.timeouts.byHand : this.timeouts.meanwhile);
    try {
      return await this.summarised({ ...asked, signal: AbortSignal.any([asked.signal, timeout]) });
    } catch (error) {
      throw error === timeout.reason ? new DomainError('upstream_timeout', {}, { cause: error }) : error;
    }
  }

  private async summarised({ transcript, tokens, before, budget, ...given }: ToSummarise): Promise<Summarised> {
    const { model, provider } = this.models.chat(given.agent.model);
    const words = Math.round(Math.min(WORDS.most, Math.max(WORDS.least, budget * SHARE)));
    const invocations: Invocation[] = [];
    let summary = before;
    let answeredBy = model.key;
    const characters = transcript.reduce((sum, { length }) => sum + length, 0);
    for (const piece of piecesOf(transcript, Math.ceil((budget * characters) / Math.max(1, tokens)))) {
      const earlier = summary === null ? [] : [{ title: 'Earlier summary', text: summary }];
      const sources = [...earlier, { title: 'Conversation', text: piece }];
      const request: ChatRequest = {
        model,
        task: 'summary',
        system: instructions(words),
        messages: [userText(QUESTION)],
        sources: sources.map((source, index) => ({ number: index + 1, headings: [], ...source })),
        sampling: {},
        signal: given.signal,
      };
      const made = await this.completions.complete(request, provider, { ...given, mostOutput: MOST_OUTPUT });
      // Models do not always keep to the words that they are allowed: the conversation would not fit any more.
      if (tokensOfSummary(made.text) > budget * (1 - KEPT)) return reject('upstream_error');
      summary = made.text;
      answeredBy = made.model;
      invocations.push(...made.invocations);
    }
    return summary === null || invocations.length === 0
      ? reject('conflict', { reason: 'nothing_to_summarise' })
      : { text: summary, model: answeredBy, invocations };
  }
}
