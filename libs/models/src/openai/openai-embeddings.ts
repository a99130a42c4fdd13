import type OpenAI from 'openai';
import { z } from 'zod';
import type { EmbeddingProvider, EmbeddingRequest, Embeddings } from '../provider';
import { failure, limitsOf } from './openai-errors';

const answerSchema = z.looseObject({
  data: z.array(z.looseObject({ index: z.number().int(), embedding: z.array(z.number()) })),
  usage: z.unknown().optional(),
});

/** Embedding models of whoever speaks the common format. */
export class OpenAiEmbeddings implements EmbeddingProvider {
  constructor(
    private readonly name: string,
    private readonly client: OpenAI,
    private readonly timeoutMs: number,
  ) {}

  async embed({ model, texts, purpose, signal }: EmbeddingRequest): Promise<Embeddings> {
    const limits = limitsOf(signal, this.timeoutMs);
    const prefix = purpose === 'query' ? model.queryPrefix : model.passagePrefix;
    try {
      const body = {
        model: model.modelId,
        input: texts.map((text) => prefix + text),
        encoding_format: 'float' as const,
      };
      const { data, usage } = answerSchema.parse(await this.client.embeddings.create(body, { signal: limits.signal }));
      const vectors = data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => unit(embedding));
      if (vectors.length !== texts.length || vectors.some((vector) => vector.length !== vectors[0]?.length))
        throw new Error('not one vector for each text');
      return { vectors, report: usage };
    } catch (error) {
      throw failure(error, this.name, limits);
    }
  }
}

const unit = (values: readonly number[]): Float32Array => {
  const length = Math.hypot(...values);
  if (!(length > 0 && Number.isFinite(length))) throw new Error('not a vector');
  return Float32Array.from(values, (value) => value / length);
};
