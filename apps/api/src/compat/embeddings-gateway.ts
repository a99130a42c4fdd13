import type { Caller } from '@app/access';
import {
  believedUsage,
  estimatedTokens,
  type ModelDescription,
  Models,
  mostTokens,
  type Route,
  UpstreamCall,
  UpstreamFailure,
  usageOf,
} from '@app/models';
import { METERING, type Metering } from '@app/spending';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CallRecord } from './call-record';
import { type Fields, isFields, wrongValue } from './checks';
import { type EmbeddingParameters, embeddingParameters } from './embedding-parameters';
import { embeddingObjects, type GivenVector, vectorsIn } from './embedding-vectors';
import { forwarded } from './forwarded';
import { upstreamError } from './upstream-errors';
import { inputReport } from './usage-report';
import { parsedAnswer, wholeAnswer } from './whole-answer';

/** Among them `encoding_format`: what providers send by default is understood either way, and some refuse the field whatever it says. */
const OWN: ReadonlySet<string> = new Set(['model', 'input', 'encoding_format', 'user']);

/** What a provider gave. */
interface Embedded {
  readonly vectors: readonly GivenVector[];
  readonly report: unknown;
  readonly served: ModelDescription;
}

/** Embeddings: checked, metered, in the encoding and length that the client wants. */
@Injectable()
export class EmbeddingsGateway {
  constructor(
    private readonly models: Models,
    @Inject(METERING) private readonly metering: Metering,
  ) {}

  /** The body of the answer. */
  async answer({ userId, keyId }: Caller, model: ModelDescription, body: Fields, reply: FastifyReply): Promise<object> {
    const parameters = embeddingParameters(body);
    const { inputs, encoding, dimensions } = parameters;
    // Before anything is waited for: a reload of the catalogue may take them away meanwhile.
    const routes = this.models.routes(model);
    if (dimensions !== undefined && model.dimensions !== undefined && dimensions > model.dimensions)
      throw tooLong(model.dimensions);
    const input = inputs.reduce((sum, text) => sum + estimatedTokens(text), 0);
    const mostInput = inputs.reduce((sum, text) => sum + mostTokens(text), 0);
    const record = await CallRecord.begin(
      { metering: this.metering, rates: this.models.rates },
      {
        userId,
        ...(keyId === undefined ? {} : { keyId }),
        kind: 'embedding',
        isAskedFor: true,
        model,
        mayAnswer: this.models.mayAnswer(model),
        estimate: usageOf({ input }),
        mostInput,
      },
      reply,
    );
    try {
      const { vectors, report, served } =
        routes.length === 0
          ? await this.locally(model, parameters, reply)
          : await this.remotely(routes, parameters, body, reply);
      const believed = believedUsage(inputReport(report), served, false);
      const usage = believed ?? usageOf({ input });
      record.servedBy(served);
      record.used({ usage, source: believed === undefined ? 'counted' : 'upstream' });
      record.succeeded();
      const { length } = vectors[0] as GivenVector;
      if (dimensions !== undefined && dimensions > length) throw tooLong(length);
      return {
        object: 'list',
        data: embeddingObjects(vectors, encoding, dimensions),
        model: model.key,
        usage: { prompt_tokens: usage.inputTokens, total_tokens: usage.inputTokens },
      };
    } catch (error) {
      record.failed(error, input);
      throw upstreamError(error);
    } finally {
      record.settle();
    }
  }

  private async remotely(
    routes: readonly Route[],
    { inputs, user }: EmbeddingParameters,
    body: Fields,
    reply: FastifyReply,
  ): Promise<Embedded> {
    const call = new UpstreamCall(routes, 'embeddings', (route) =>
      JSON.stringify({
        // Among them `dimensions`, which not every model knows: what comes back longer is cut here.
        ...forwarded(body, route, OWN),
        model: route.model.modelId,
        input: inputs,
        ...(user === undefined ? {} : { user }),
      }),
    );
    return wholeAnswer(call, reply, async ({ model: served, exchange }) => {
      const answer = parsedAnswer(await exchange.whole());
      return {
        vectors: vectorsIn(answer, inputs.length),
        report: isFields(answer) ? answer['usage'] : undefined,
        served,
      };
    });
  }

  private async locally(
    model: ModelDescription,
    { inputs }: EmbeddingParameters,
    reply: FastifyReply,
  ): Promise<Embedded> {
    const left = new AbortController();
    reply.raw.once('close', () => left.abort(new UpstreamFailure('aborted', { work: { model, ms: 0 } })));
    const { vectors } = await this.models.localProvider.embeddings.embed({
      model,
      texts: inputs,
      purpose: 'passage',
      signal: left.signal,
    });
    return { vectors, report: undefined, served: model };
  }
}

const tooLong = (most: number) => wrongValue('dimensions', `this model has ${most} dimensions.`);
