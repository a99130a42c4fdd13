import { CONFIG, type Config, isDomainError, isUnavailable, LOGGER, Unavailable } from '@app/kernel';
import { type ChatRequest, isAsTrusted, LOCAL, type ModelDescription, Models, userText } from '@app/models';
import { type Metering, METERING } from '@app/spending';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { AnsweringModels } from '../answering/answering';
import { MeteredCompletions, type Paying } from '../answering/metered-completions';
import { titleFrom } from './title-text';

/** Reserved and most output: models that think produce more than a title. */
const MOST_OUTPUT = 1_024;
/** A title that takes longer is given up: policies are late after ten seconds. */
const TIMEOUT_MS = 8_000;
/** A failed model gets no title requests for this long: a hanging provider would delay all others. */
const AFTER_FAILURE_MS = 60_000;
/** So much of a question and of its answer is shown, characters. */
const SHOWN = 2_000;

const INSTRUCTIONS =
  'You title conversations. Write a title for the conversation in the sources: two to six words, at most 60 characters, in the language of ' +
  'its question. Answer with the title alone, as one line of plain text without quotes, Markdown, links or a full stop.';

/** The first exchange of a conversation. */
export interface FirstExchange extends Pick<Paying, 'agent' | 'requester'> {
  readonly question: string;
  readonly answer: string;
  /** Key of the model that answered. */
  readonly model: string;
}

/** Asks a model for the titles of conversations. Each call is metered, for the user and the Agent of the conversation. */
@Injectable()
export class Titler {
  private readonly completions: MeteredCompletions;
  private readonly closing = new AbortController();
  private readonly failed = new LRUCache<string, true>({ max: 1_000, ttl: AFTER_FAILURE_MS });

  constructor(
    @Inject(Models) private readonly models: AnsweringModels,
    @Inject(METERING) metering: Metering,
    @Inject(CONFIG) { DEFAULT_CURRENCY }: Pick<Config, 'DEFAULT_CURRENCY'>,
    @Inject(LOGGER) private readonly logger: { warn(facts: object, message: string): void },
  ) {
    this.completions = new MeteredCompletions(models, metering, DEFAULT_CURRENCY);
  }

  /**
   * A title; undefined if no model gives one: by configuration, without money, or after a failure. Throws `Unavailable`
   * before a model is called, and once it is closed.
   */
  async title({ question, answer, model: key, ...paying }: FirstExchange): Promise<string | undefined> {
    this.closing.signal.throwIfAborted();
    const model = this.modelFor(key);
    if (model === undefined || this.failed.has(model.key)) return undefined;
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const request: ChatRequest = {
      model,
      task: 'summary',
      system: INSTRUCTIONS,
      messages: [userText('Give this conversation a title.')],
      sources: [
        { number: 1, title: 'Question', headings: [], text: question.slice(0, SHOWN).toWellFormed() },
        { number: 2, title: 'Answer', headings: [], text: answer.slice(0, SHOWN).toWellFormed() },
      ],
      sampling: {},
      maxOutputTokens: MOST_OUTPUT,
      signal: AbortSignal.any([this.closing.signal, timeout]),
    };
    try {
      const { provider } = this.models.chat(model.key);
      const { text } = await this.completions.complete(request, provider, {
        ...paying,
        mostOutput: MOST_OUTPUT,
        isAskedFor: false,
      });
      return titleFrom(text);
    } catch (error) {
      this.closing.signal.throwIfAborted();
      if (isUnavailable(error)) throw error;
      if (isDomainError(error, 'usage_limit_exceeded')) return undefined;
      this.failed.set(model.key, true);
      this.logger.warn(
        { model: model.key, ...(isDomainError(error) ? { code: error.code } : { error }) },
        'Titling a conversation failed. Its title stays the beginning of the first question.',
      );
      return undefined;
    }
  }

  get isClosed(): boolean {
    return this.closing.signal.aborted;
  }

  /** Cancels running requests: nobody waits for a title. The next start handles these answers again. */
  close(): void {
    this.closing.abort(new Unavailable('the titler', 'its process stops'));
  }

  /**
   * `titleModel` if it is trusted as much as the model that answered, otherwise that one. Local models only quote, and
   * cannot write titles.
   */
  private modelFor(key: string): ModelDescription | undefined {
    const { models, titleModel } = this.models.catalogue;
    const answering = models.get(key);
    if (titleModel === null || answering?.kind !== 'chat') return undefined;
    const named = titleModel === undefined ? undefined : models.get(titleModel);
    const model = named !== undefined && isAsTrusted(named.securityTier, answering.securityTier) ? named : answering;
    return model.provider === LOCAL ? undefined : model;
  }
}
