import type { Caller } from '@app/access';
import { estimatedTokens, type ModelDescription, type ModelRequest, Models, mostTokens, usageOf } from '@app/models';
import { METERING, type Metering } from '@app/spending';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { beginCall, clientGone } from './begin-call';
import { type Fields, without } from './checks';
import { rerankBody } from './compat-schemas';
import { rerankParameters } from './rerank-parameters';
import { upstreamError } from './upstream-errors';

const OWN: ReadonlySet<string> = new Set(Object.keys(rerankBody.shape));

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
  async answer(caller: Caller, model: ModelDescription, body: Fields, reply: FastifyReply): Promise<object> {
    const { query, documents, top } = rerankParameters(body);
    // Before anything is waited for: a reload of the catalogue may take them away meanwhile.
    const provider = this.models.provider(model);
    // The query is measured once: it may be as long as the documents are many.
    const input = documents.reduce(
      (sum, text) => sum + estimatedTokens(text),
      documents.length * estimatedTokens(query),
    );
    const mostInput = documents.reduce((sum, text) => sum + mostTokens(text), documents.length * mostTokens(query));
    const calls = await beginCall(
      this.metering,
      this.models,
      caller,
      {
        kind: 'rerank',
        model,
        mayAnswer: provider.mayAnswer(model),
        estimate: usageOf({ input }),
        mostInput: usageOf({ input: mostInput }).inputTokens,
      },
      reply,
    );
    const gone = clientGone(reply, model);
    const onBrokenOff: ModelRequest['onBrokenOff'] = (failure) => calls.again(failure, usageOf({ input }));
    try {
      const forwarded = without(body, OWN);
      const ranking = await provider.rerank({ model, query, documents, forwarded, signal: gone.signal, onBrokenOff });
      const { usage = usageOf({ input }) } = ranking;
      const record = calls.now;
      record.servedBy(ranking.model);
      record.used({ usage, source: ranking.usage === undefined ? 'counted' : 'upstream' });
      record.succeeded();
      const ranked = ranking.scores.map((score, index): Ranked => ({ index, relevance_score: score }));
      const best = ranked.toSorted((a, b) => b.relevance_score - a.relevance_score || a.index - b.index).slice(0, top);
      return {
        object: 'list',
        data: best,
        results: best,
        model: model.key,
        usage: { prompt_tokens: usage.inputTokens, total_tokens: usage.totalTokens },
      };
    } catch (error) {
      calls.failed(error, usageOf({ input }));
      throw upstreamError(error);
    } finally {
      gone.forget();
      calls.settle();
    }
  }
}
