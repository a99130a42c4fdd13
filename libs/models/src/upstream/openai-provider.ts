import type { ModelDescription } from '../catalogue';
import type {
  ChatChunk,
  ChatRequest,
  ChatResult,
  EmbeddingRequest,
  Embeddings,
  ModelRequest,
  Provider,
  Ranking,
  RerankRequest,
} from '../provider';
import { isAsTrusted } from '../security-tier';
import { USAGE_MS } from '../usage';
import { completed, streamed } from './openai-chat';
import { MAX_ANSWER_BYTES } from './exchange';
import { failureOf, isUpstreamFailure, UpstreamFailure } from './failure';
import { inputUsage, noAnswer } from './reported-usage';
import { type Attempt, type Attempting, type Route, UpstreamCall } from './upstream-call';
import { unit, vectorsIn, withDimensions } from './vectors';

type Fields = Readonly<Record<string, unknown>>;

const NO_ROUTES: readonly Route[] = [];

/** An answer whose first piece is there. */
interface Begun {
  readonly first: IteratorResult<ChatChunk, void>;
  readonly rest: AsyncIterator<ChatChunk, void>;
}

/** The providers of the catalogue, which all speak the OpenAI API. */
export class OpenAiProvider implements Provider {
  private readonly models: ReadonlyMap<string, readonly ModelDescription[]>;

  /** `byModel`: where the calls of each model go, by its key: to its provider, then to its fallback's. */
  constructor(private readonly byModel: ReadonlyMap<string, readonly Route[]>) {
    this.models = new Map([...byModel].map(([key, routes]) => [key, routes.map(({ model }) => model)]));
  }

  routes(model: ModelDescription): readonly Route[] {
    return this.byModel.get(model.key) ?? NO_ROUTES;
  }

  mayAnswer(model: ModelDescription): readonly ModelDescription[] {
    return this.models.get(model.key) ?? [];
  }

  complete(request: ChatRequest): Promise<ChatResult> {
    return answered(this.trusted(request.model), request, (attempt) => completed(request, attempt));
  }

  async *stream(request: ChatRequest): AsyncIterable<ChatChunk> {
    const call = new UpstreamCall(this.trusted(request.model), request.onBrokenOff);
    let progress: { finishedAt?: number } = {};
    let state: 'asked' | 'begun' | 'whole' = 'asked';
    let timeout: NodeJS.Timeout | undefined;
    // An answer whose end was seen may take a moment more to say what it used.
    const leave = (): void => {
      const { finishedAt } = progress;
      if (finishedAt === undefined) call.abort();
      else timeout = setTimeout(() => call.abort(finishedAt), USAGE_MS);
    };
    const unlisten = onAbort(request.signal, leave);
    try {
      // Until its first piece is there, another answer may take its place.
      const begin: Attempting<Begun> = async (attempt) => {
        progress = {};
        const chunks = streamed(request, attempt, progress)[Symbol.asyncIterator]();
        return { first: await parsed(chunks.next()), rest: chunks };
      };
      for (let answer = await call.answer(begin); ;) {
        state = 'begun';
        let failure: UpstreamFailure;
        try {
          for (let next = answer.first; next.done !== true; next = await answer.rest.next()) {
            // Readers leave with the last chunk.
            if (next.value.type === 'finish') state = 'whole';
            yield next.value;
          }
          return;
        } catch (error) {
          failure = call.broken(error);
        }
        if (request.mayRepeat?.() !== true || !call.mayAgain(failure)) throw failure;
        state = 'asked';
        await request.onBrokenOff?.(failure);
        yield { type: 'again' };
        answer = await call.again(failure, begin);
      }
    } finally {
      unlisten();
      clearTimeout(timeout);
      call.done();
      if (state !== 'whole') call.abort();
    }
  }

  /** Whatever form a provider gives vectors in is understood, so that `encoding_format`, which some reject, is sent where there are very many alone. */
  embed(request: EmbeddingRequest): Promise<Embeddings> {
    const { model, texts, purpose, user, forwarded } = request;
    const routes =
      purpose === undefined
        ? this.routes(model)
        : this.trusted(model).filter((route) => route.model.modelId === model.modelId);
    return answered(routes, request, async (attempt) => {
      const { model: asked } = attempt.route;
      const prefix = { query: asked.queryPrefix, passage: asked.passagePrefix, none: '' }[purpose ?? 'none'];
      const input = prefix === '' ? texts : texts.map((text) => prefix + text);
      const body = {
        ...picked(forwarded, attempt),
        model: asked.modelId,
        input,
        ...(user === undefined ? {} : { user }),
      };
      const mostBytes = vectorsBytes(texts.length, asked);
      const ask = (format: Fields): Promise<unknown> =>
        jsonOf(attempt, 'embeddings', { ...body, ...format }, mostBytes);
      // Of so many numbers the text is several times as long, and takes a second to read.
      const answer = await (mostBytes > MAX_ANSWER_BYTES ? inFormat(ask, { encoding_format: 'base64' }, {}) : ask({}));

      const vectors = readFrom(answer, asked, () => {
        const given = vectorsIn(answer, texts.length);
        // A client of the gateway may have asked for fewer.
        return forwarded?.['dimensions'] === undefined ? withDimensions(given, asked) : given;
      });
      return {
        model: asked,
        vectors: purpose === undefined ? vectors : vectors.map(unit),
        ...inputUsage(usageIn(answer), asked),
      };
    });
  }

  /** All documents are asked for, since providers differ in how they call the number of the best. */
  rerank(request: RerankRequest): Promise<Ranking> {
    const { model, query, documents, forwarded } = request;
    return answered(this.routes(model), request, async (attempt) => {
      const { model: asked } = attempt.route;
      const body = { ...picked(forwarded, attempt), model: asked.modelId, query, documents };
      const answer = await jsonOf(attempt, 'rerank', body);
      const scores = readFrom(answer, asked, () => scoresIn(answer, documents.length));
      return { model: asked, scores, ...inputUsage(usageIn(answer), asked) };
    });
  }

  /** Whoever chose a model for an Agent saw its security tier: a fallback that is trusted less answers for clients of the gateway alone. */
  private trusted(model: ModelDescription): readonly Route[] {
    return this.routes(model).filter((route) => isAsTrusted(route.model.securityTier, model.securityTier));
  }
}

/** What a call comes to that ends with its signal. */
export const answered = async <T>(
  routes: readonly Route[],
  { signal, onBrokenOff }: Omit<ModelRequest, 'model'>,
  attempting: Attempting<T>,
): Promise<T> => {
  const call = new UpstreamCall(routes, onBrokenOff);
  const unlisten = onAbort(signal, () => call.abort());
  try {
    return await call.answer((attempt) => parsed(attempting(attempt)));
  } finally {
    unlisten();
    call.done();
  }
};

/** Asks in a form that the provider may not know: then in another. A deployment does not say which model it is. */
export const inFormat = async <T>(
  ask: (format: Fields) => Promise<T>,
  preferred: Fields,
  other: Fields,
): Promise<T> => {
  try {
    return await ask(preferred);
  } catch (error) {
    const isForForm = isUpstreamFailure(error) && Object.hasOwn(preferred, error.facts.param ?? '');
    if (preferred === other || !isForForm) throw error;
    return ask(other);
  }
};

const onAbort = (signal: AbortSignal, leave: () => void): (() => void) => {
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  return () => signal.removeEventListener('abort', leave);
};

/** What cannot be read is no answer: another may take its place. */
const parsed = async <T>(reading: Promise<T>): Promise<T> => {
  try {
    return await reading;
  } catch (error) {
    throw failureOf(error);
  }
};

/** Those of a client's fields that the provider's `forward` names. */
const picked = (fields: Fields = {}, { route }: Attempt): Fields =>
  Object.fromEntries(
    route.upstream.description.forward.flatMap((name) =>
      Object.hasOwn(fields, name) && fields[name] !== undefined && fields[name] !== null ? [[name, fields[name]]] : [],
    ),
  );

const jsonOf = async (
  { send }: Attempt,
  operation: 'embeddings' | 'rerank',
  body: object,
  mostBytes = MAX_ANSWER_BYTES,
): Promise<unknown> => {
  const exchange = await send(operation, JSON.stringify(body));
  return JSON.parse((await exchange.whole(mostBytes)).toString().replace(/^\ufeff/, ''));
};

/** A number of a vector as wordy servers write it: with all its digits, on a line of its own. */
const BYTES_PER_NUMBER = 32;
/** Numbers of a vector whose model does not say how many it has. */
const MANY_NUMBERS = 4_096;

/** Bytes that the vectors of so many texts may take: a client may send so many at once that they are more than any other answer. */
const vectorsBytes = (texts: number, { dimensions = MANY_NUMBERS }: ModelDescription): number =>
  Math.max(MAX_ANSWER_BYTES, texts * dimensions * BYTES_PER_NUMBER);

/** What is read from an answer. Throws `UpstreamFailure`; what is none is billed as its provider says. */
const readFrom = <T>(answer: unknown, model: ModelDescription, read: () => T): T => {
  try {
    return read();
  } catch (error) {
    throw noAnswer(usageIn(answer), model, failureOf(error));
  }
};

const usageIn = (answer: unknown): unknown => (answer as Fields | null)?.['usage'];

/** Providers answer in `results` or `data`, with `relevance_score` or `score`. Throws `UpstreamFailure` unless each document is there once. */
const scoresIn = (answer: unknown, count: number): readonly number[] => {
  const { results, data } = answer as Fields;
  const list = results ?? data;
  if (!Array.isArray(list) || list.length !== count) throw new UpstreamFailure('broken');
  const scores: number[] = [];
  for (const entry of list as Fields[]) {
    const { index, relevance_score: score = entry['score'] } = entry;
    if (typeof index !== 'number' || !(index in list) || scores[index] !== undefined || !Number.isFinite(score))
      throw new UpstreamFailure('broken');
    scores[index] = score as number;
  }
  return scores;
};
