import type { Caller } from '@app/access';
import {
  believedUsage,
  estimatedTokens,
  type ModelDescription,
  Models,
  mostTokens,
  relevancesOf,
  type Route,
  UpstreamCall,
  UpstreamFailure,
  usageOf,
} from '@app/models';
import { METERING, type Metering } from '@app/spending';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CallRecord } from './call-record';
import { type Fields, isFields } from './checks';
import { forwarded } from './forwarded';
import { type RerankParameters, rerankParameters } from './rerank-parameters';
import { upstreamError } from './upstream-errors';
import { inputReport } from './usage-report';
import { parsedAnswer, wholeAnswer } from './whole-answer';

const OWN: ReadonlySet<string> = new Set(['model', 'query', 'input', 'documents', 'top_k', 'top_n']);

/** A document's place in the request and its score. */
interface Ranked {
  readonly index: number;
  readonly relevance_score: number;
}

/** Scores documents against a query: checked, metered, highest first. */
@Injectable()
export class RerankGateway {
  constructor(
    private readonly models: Models,
    @Inject(METERING) private readonly metering: Metering,
  ) {}

  /** The body of the answer. */
  async answer({ userId, keyId }: Caller, model: ModelDescription, body: Fields, reply: FastifyReply): Promise<object> {
    const parameters = rerankParameters(body);
    const { query, documents, top } = parameters;
    // Before anything is waited for: a reload of the catalogue may take them away meanwhile.
    const routes = this.models.routes(model);
    // The query is measured once: it may be as long as the documents are many.
    const input = documents.reduce(
      (sum, text) => sum + estimatedTokens(text),
      documents.length * estimatedTokens(query),
    );
    const mostInput = documents.reduce((sum, text) => sum + mostTokens(text), documents.length * mostTokens(query));
    const record = await CallRecord.begin(
      { metering: this.metering, rates: this.models.rates },
      {
        userId,
        ...(keyId === undefined ? {} : { keyId }),
        kind: 'rerank',
        isAskedFor: true,
        model,
        mayAnswer: this.models.mayAnswer(model),
        estimate: usageOf({ input }),
        mostInput: usageOf({ input: mostInput }).inputTokens,
      },
      reply,
    );
    try {
      const { ranked, report, served } =
        routes.length === 0
          ? { ranked: await locally(model, parameters, reply), report: undefined, served: model }
          : await this.remotely(routes, parameters, body, reply);
      const believed = believedUsage(inputReport(report), served, false);
      const usage = believed ?? usageOf({ input });
      record.servedBy(served);
      record.used({ usage, source: believed === undefined ? 'counted' : 'upstream' });
      record.succeeded();
      const best = ranked.toSorted((a, b) => b.relevance_score - a.relevance_score || a.index - b.index).slice(0, top);
      return {
        object: 'list',
        data: best,
        results: best,
        model: model.key,
        usage: { prompt_tokens: usage.inputTokens, total_tokens: usage.totalTokens },
      };
    } catch (error) {
      record.failed(error, input);
      throw upstreamError(error);
    } finally {
      record.settle();
    }
  }

  /** Everything is asked for, since providers differ in how they call the number of the best. */
  private async remotely(
    routes: readonly Route[],
    { query, documents }: RerankParameters,
    body: Fields,
    reply: FastifyReply,
  ): Promise<{ ranked: readonly Ranked[]; report: unknown; served: ModelDescription }> {
    const call = new UpstreamCall(routes, 'rerank', (route) =>
      JSON.stringify({ ...forwarded(body, route, OWN), model: route.model.modelId, query, documents }),
    );
    return wholeAnswer(call, reply, async ({ model: served, exchange }) => {
      const answer = parsedAnswer(await exchange.whole());
      return {
        ranked: rankedIn(answer, documents.length),
        report: isFields(answer) ? answer['usage'] : undefined,
        served,
      };
    });
  }
}

/** The local reranker: the share of the query's weight that a document's words cover. It ends when the client leaves. */
const locally = async (
  model: ModelDescription,
  { query, documents }: RerankParameters,
  { raw }: FastifyReply,
): Promise<readonly Ranked[]> => {
  const left = new AbortController();
  const leave = (): void => left.abort(new UpstreamFailure('aborted', { work: { model, ms: 0 } }));
  raw.once('close', leave);
  try {
    const scores = await relevancesOf(query, documents, left.signal);
    return scores.map((score, index) => ({ index, relevance_score: score }));
  } finally {
    raw.off('close', leave);
  }
};

/** Providers answer in `results` or `data`, with `relevance_score` or `score`. Throws `UpstreamFailure` unless each is there once. */
const rankedIn = (answer: unknown, count: number): readonly Ranked[] => {
  const list = isFields(answer) ? (answer['results'] ?? answer['data']) : undefined;
  if (!Array.isArray(list) || list.length !== count) throw new UpstreamFailure('broken');
  const seen = new Set<number>();
  return (list as Fields[]).map((entry) => {
    const { index, relevance_score: score = entry['score'] } = isFields(entry) ? entry : ({} as Fields);
    if (
      typeof index !== 'number' ||
      !(index in list) ||
      seen.has(index) ||
      typeof score !== 'number' ||
      !Number.isFinite(score)
    )
      throw new UpstreamFailure('broken');
    seen.add(index);
    return { index, relevance_score: score };
  });
};
