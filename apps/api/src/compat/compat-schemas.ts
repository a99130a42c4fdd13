import { z } from 'zod';

// What the documentation shows. Bodies are checked by hand, in the words and codes that clients of this format know, which
// takes whatever these schemas take: `compat-schemas.spec.ts`.

const usage = z.object({
  prompt_tokens: z.number().int().describe('Input tokens.'),
  total_tokens: z.number().int().describe('Total tokens.'),
});
const details = (of: string) => z.looseObject({}).nullish().describe(of);
/** A provider's own is passed on, with whatever it has. */
const chatUsage = usage
  .extend({
    completion_tokens: z.number().int().optional().describe('Output tokens.'),
    prompt_tokens_details: details('Details of the input tokens: `cached_tokens`, `audio_tokens`.'),
    completion_tokens_details: details(
      'Details of the output tokens: `reasoning_tokens`, `audio_tokens`, `accepted_prediction_tokens`, `rejected_prediction_tokens`.',
    ),
  })
  .loose();

const tool = z.union([
  z.looseObject({
    type: z.literal('function').describe('Its kind.'),
    function: z.looseObject({ name: z.string().describe('Its name.') }).describe('The function.'),
  }),
  z.looseObject({ type: z.literal('custom').describe('Its kind.') }),
]);

export const chatBody = z.object({
  model: z.string().describe('The id of a configured chat model.'),
  messages: z
    .array(
      z.looseObject({
        role: z
          .enum(['system', 'developer', 'user', 'assistant', 'tool', 'function'])
          .describe('The role of its author.'),
        content: z
          .union([z.string(), z.array(z.looseObject({ type: z.string().describe('Its kind.') })), z.null()])
          .optional()
          .describe('The content: text, or a list of parts.'),
      }),
    )
    .min(1)
    .max(10_000)
    .describe('The conversation so far.'),
  temperature: z.number().min(0).max(2).nullish().describe('Sampling temperature.'),
  top_p: z.number().min(0).max(1).nullish().describe('Nucleus sampling (top-p).'),
  max_completion_tokens: z.number().int().min(1).nullish().describe('Takes precedence over `max_tokens`.'),
  max_tokens: z.number().int().min(1).nullish().describe('Maximum tokens of the answer.'),
  stop: z
    .union([z.string(), z.array(z.string())])
    .nullish()
    .describe('Stop sequences.'),
  seed: z.number().int().nullish().describe('Sampling seed, if the model supports it.'),
  frequency_penalty: z.number().min(-2).max(2).nullish().describe('Penalty for frequent tokens.'),
  presence_penalty: z.number().min(-2).max(2).nullish().describe('Penalty for tokens that have already occurred.'),
  tools: z.array(tool).max(1_024).nullish().describe('Tools that the model can call. The client runs them.'),
  tool_choice: z
    .union([z.string(), z.looseObject({})])
    .nullish()
    .describe('Which tool to call.'),
  stream: z.boolean().nullish().describe('Answers as Server-Sent Events.'),
  stream_options: z
    .looseObject({
      include_usage: z.boolean().nullish().describe('Sends token usage at the end of the stream.'),
      include_obfuscation: z.boolean().nullish().describe('Passed on to the provider.'),
    })
    .nullish()
    .describe('Streaming options.'),
  parallel_tool_calls: z.boolean().nullish().describe('Whether it can call several tools at once.'),
  reasoning_effort: z.string().nullish().describe('How long it reasons; values depend on the model.'),
  verbosity: z.string().nullish().describe('How long its answers are; values depend on the model.'),
  service_tier: z
    .string()
    .nullish()
    .describe(
      "`auto`, `default` or `flex`. Other values are dropped, unless the provider's `forward` names the field.",
    ),
  prompt_cache_key: z.string().nullish().describe('Passed on to the provider.'),
  user: z.string().nullish().describe('Passed on to the provider.'),
  store: z.boolean().nullish().describe('Passed on to the provider.'),
  metadata: z.record(z.string(), z.string()).nullish().describe('Passed on to the provider.'),
  n: z.literal(1).nullish().describe('One answer; more are not supported.'),
  logprobs: z.literal(false).nullish().describe('Not supported.'),
  response_format: z
    .strictObject({ type: z.literal('text').optional().describe('Text.') })
    .nullish()
    .describe('Text; others are not supported.'),
  logit_bias: z.strictObject({}).nullish().describe('Not supported.'),
});
export const chatCompletion = z
  .object({
    id: z.string().describe('The id of the completion.'),
    object: z.literal('chat.completion').describe('The kind of object.'),
    created: z.number().int().describe('When it was created, in seconds since 1970.'),
    model: z.string().describe('The model that answered.'),
    choices: z
      .array(
        z.looseObject({
          index: z.number().int().describe('The index of the answer.'),
          message: z
            .looseObject({
              role: z.literal('assistant').describe('The role of its author.'),
              content: z
                .union([z.string(), z.array(z.looseObject({}))])
                .nullable()
                .describe('The content: text, or parts if the provider sends parts.'),
              refusal: z.string().nullish().describe('What it says instead of an answer.'),
            })
            .describe('The message.'),
          finish_reason: z.string().nullable().describe('Why the answer ended, if the provider says so.'),
          logprobs: details('Details from the provider.'),
        }),
      )
      .describe('The answers.'),
    usage: chatUsage.describe('Tokens of the call.'),
  })
  .meta({ id: 'ChatCompletion' });

const text = z.string().min(1);
export const embeddingsBody = z.object({
  model: z.string().describe('The id of a configured embedding model.'),
  input: z.union([text, z.array(text).min(1).max(2_048)]).describe('One text, or several.'),
  encoding_format: z.enum(['float', 'base64']).nullish().describe('The encoding of the vectors.'),
  dimensions: z.number().int().min(1).nullish().describe('Truncates each vector to this length.'),
  user: z.string().nullish().describe('Passed on to the provider.'),
});
export const embeddingsList = z
  .object({
    object: z.literal('list').describe('The kind of object.'),
    data: z
      .array(
        z.object({
          object: z.literal('embedding').describe('The kind of object.'),
          index: z.number().int().describe('The index of the text in the input.'),
          embedding: z.union([z.array(z.number()), z.string()]).describe('The vector, as numbers or base64.'),
        }),
      )
      .describe('The vectors, in the order of the input.'),
    model: z.string().describe('The model that made the vectors.'),
    usage: usage.describe('Tokens of the call.'),
  })
  .meta({ id: 'EmbeddingList' });

const ranking = z.union([
  z.string(),
  z.array(z.union([z.string(), z.looseObject({ text: z.string().describe('Its text.') })])).min(1),
]);
const most = z.number().int().min(1).nullish();
export const rerankBody = z.object({
  model: z.string().describe('The id of the configured reranker model.'),
  query: z.string().describe('The query to rank by.'),
  input: ranking.nullish().describe('Documents to rank. Required, unless `documents` is sent.'),
  documents: ranking.nullish().describe('The same as `input`. `input` takes precedence.'),
  top_k: most.describe('How many to return. By default, all.'),
  top_n: most.describe('The same as `top_k`. `top_k` takes precedence.'),
});
const ranked = z.array(
  z.object({
    index: z.number().int().describe('The index of the document in the input.'),
    relevance_score: z.number().describe('How relevant it is; higher is better.'),
  }),
);
export const rerankList = z
  .object({
    object: z.literal('list').describe('The kind of object.'),
    data: ranked.describe('The documents, most relevant first.'),
    results: ranked.describe('The same as `data`, for clients that expect this field.'),
    model: z.string().describe('The model that ranked the documents.'),
    usage: usage.describe('Tokens of the call.'),
  })
  .meta({ id: 'RerankResult' });

export const gatewayModel = z
  .object({
    id: z.string().describe('The id of the model.'),
    object: z.literal('model').describe('The kind of object.'),
    created: z.number().int().describe('When the catalogue was written, in seconds since 1970.'),
    owned_by: z.string().describe('Its provider.'),
  })
  .meta({ id: 'GatewayModel' });
export const gatewayModels = z
  .object({
    object: z.literal('list').describe('The kind of object.'),
    data: z.array(gatewayModel).describe('The models.'),
  })
  .meta({ id: 'GatewayModelList' });
