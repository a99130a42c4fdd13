import type { Caller } from '@app/access';
import {
  estimatedTokens,
  type ModelDescription,
  type ModelRequest,
  Models,
  mostTokens,
  usageOf,
  type Vector,
} from '@app/models';
import { METERING, type Metering } from '@app/spending';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { beginCall, clientGone } from './begin-call';
import { type Fields, without, wrongValue } from './checks';
import { embeddingsBody } from './compat-schemas';
import { embeddingParameters } from './embedding-parameters';
import { embeddingObjects } from './embedding-vectors';
import { upstreamError } from './upstream-errors';

/** Not among them `dimensions`, which a provider may get as it is. `encoding_format`: what providers send by default is understood either way, and some reject the field whatever it says. */
const OWN: ReadonlySet<string> = new Set(Object.keys(embeddingsBody.omit({ dimensions: true }).shape));

/** Embeddings: checked, metered, in the encoding and length that the client wants. */
@Injectable()
export class EmbeddingsGateway {
  constructor(
    private readonly models: Models,
    @Inject(METERING) private readonly metering: Metering,
  ) {}

  /** The body of the answer. */
  async answer(caller: Caller, model: ModelDescription, body: Fields, reply: FastifyReply): Promise<object> {
    const { inputs, encoding, dimensions, user } = embeddingParameters(body);
    // Before anything is waited for: a reload of the catalogue may take them away meanwhile.
    const provider = this.models.provider(model);
    if (dimensions !== undefined && model.dimensions !== undefined && dimensions > model.dimensions)
      throw tooLong(model.dimensions);
    const input = inputs.reduce((sum, text) => sum + estimatedTokens(text), 0);
    const mostInput = inputs.reduce((sum, text) => sum + mostTokens(text), 0);
    const calls = await beginCall(
      this.metering,
      this.models,
      caller,
      {
        kind: 'embedding',
        model,
        mayAnswer: provider.mayAnswer(model),
        estimate: usageOf({ input }),
        mostInput,
      },
      reply,
    );
    const gone = clientGone(reply, model);
    const onBrokenOff: ModelRequest['onBrokenOff'] = (failure) => calls.again(failure, usageOf({ input }));
    try {
      // Among the forwarded ones `dimensions`, which not every model knows: what comes back longer is cut here.
      const embedded = await provider.embed({
        model,
        texts: inputs,
        ...(user === undefined ? {} : { user }),
        forwarded: without(body, OWN),
        signal: gone.signal,
        onBrokenOff,
      });
      const { vectors, usage = usageOf({ input }) } = embedded;
      const record = calls.now;
      record.servedBy(embedded.model);
      record.used({ usage, source: embedded.usage === undefined ? 'counted' : 'upstream' });
      record.succeeded();
      const { length } = vectors[0] as Vector;
      if (dimensions !== undefined && dimensions > length) throw tooLong(length);
      return {
        object: 'list',
        data: embeddingObjects(vectors, encoding, dimensions),
        model: model.key,
        usage: { prompt_tokens: usage.inputTokens, total_tokens: usage.inputTokens },
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

const tooLong = (most: number) => wrongValue('dimensions', `this model has ${most} dimensions.`);
