import { z } from 'zod';

// What the documentation shows. Bodies are checked by hand, in the words and codes that clients of this format know, which
// takes whatever these schemas take: `compat-schemas.spec.ts`.

const usage = z.object({
  prompt_tokens: z.number().int().describe('Tokens of the input.'),
  total_tokens: z.number().int().describe('Tokens altogether.'),
});
const details = (of: string) => z.looseObject({}).nullish().describe(of);
/** A provider's own is passed on, with whatever it has. */
const chatUsage = usage
  .extend({
    completion_tokens: z.number().int().optional().describe('Tokens of the output.'),
    prompt_tokens_details: details('Of the tokens of the input: `cached_tokens`, `audio_tokens`.'),
    completion_tokens_details: details(
      'Of the tokens of the output: `reasoning_tokens`, `audio_tokens`, `accepted_prediction_tokens`, `rejected_prediction_tokens`.',
    ),
  })
  .loose();

const tool = z.union([
  z.looseObject({
    type: z.literal('function').describe('Its kind.'),
    function: z.looseObject({ name: z.string().describe('Its name.') }).describe('What it is.'),
  }),
  z.looseObject({ type: z.literal('custom').describe('Its kind.') }),
]);

export const chatBody = z.object({
  model: z.string().describe('The id of a configured chat model.'),
  messages: z
    .array(
      z.looseObject({
        role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']).describe('Who says it.'),
        content: z
          .union([z.string(), z.array(z.looseObject({ type: z.string().describe('Its kind.') })), z.null()])
          .optional()
          .describe('What is said: text, or parts.'),
      }),
    )
    .min(1)
    .max(10_000)
    .describe('The conversation so far.'),
  temperature: z.number().min(0).max(2).nullish().describe('Sampling temperature.'),
  top_p: z.number().min(0).max(1).nullish().describe('Nucleus sampling.'),
  max_completion_tokens: z.number().int().min(1).nullish().describe('Takes precedence over `max_tokens`.'),
  max_tokens: z.number().int().min(1).nullish().describe('Most tokens of the answer.'),
  stop: z
    .union([z.string(), z.array(z.string())])
    .nullish()
    .describe('Texts at which the answer ends.'),
  seed: z.number().int().nullish().describe('Seed of the sampling, where the model knows it.'),
  frequency_penalty: z.number().min(-2).max(2).nullish().describe('Penalty of frequent tokens.'),
  presence_penalty: z.number().min(-2).max(2).nullish().describe('Penalty of tokens that occurred.'),
  tools: z.array(tool).max(1_024).nullish().describe('Tools that the model may call, and the client runs.'),
  tool_choice: z
    .union([z.string(), z.looseObject({})])
    .nullish()
    .describe('Which tool it calls.'),
  stream: z.boolean().nullish().describe('Answers as Server-Sent Events.'),
  stream_options: z
    .looseObject({
      include_usage: z.boolean().nullish().describe('Sends the usage at the end of the stream.'),
      include_obfuscation: z.boolean().nullish().describe('Goes to the provider.'),
    })
    .nullish()
    .describe('How it streams.'),
  parallel_tool_calls: z.boolean().nullish().describe('Whether it may call several tools at once.'),
  reasoning_effort: z.string().nullish().describe('How long it reasons, in the words of the model.'),
  verbosity: z.string().nullish().describe('How much it says, in the words of the model.'),
  service_tier: z
    .string()
    .nullish()
    .describe('`auto`, `default` or `flex`; others are left out, unless `forward` of the provider names the field.'),
  prompt_cache_key: z.string().nullish().describe('Goes to the provider.'),
  user: z.string().nullish().describe('Goes to the provider.'),
  store: z.boolean().nullish().describe('Goes to the provider.'),
  metadata: z.record(z.string(), z.string()).nullish().describe('Goes to the provider.'),
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
    created: z.number().int().describe('When it was made, seconds since 1970.'),
    model: z.string().describe('The model that answered.'),
    choices: z
      .array(
        z.looseObject({
          index: z.number().int().describe('The place of the answer.'),
          message: z
            .looseObject({
              role: z.literal('assistant').describe('Who says it.'),
              content: z
                .union([z.string(), z.array(z.looseObject({}))])
                .nullable()
                .describe('What is said: text, or parts where the provider answers these.'),
              refusal: z.string().nullish().describe('What it says in place of an answer.'),
            })
            .describe('The message.'),
          finish_reason: z.string().nullable().describe('Why it ended, where the provider says it.'),
          logprobs: details('What the provider says of it.'),
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
  encoding_format: z.enum(['float', 'base64']).nullish().describe('How vectors are written.'),
  dimensions: z.number().int().min(1).nullish().describe('Cuts each vector to this length.'),
  user: z.string().nullish().describe('Goes to the provider.'),
});
export const embeddingsList = z
  .object({
    object: z.literal('list').describe('The kind of object.'),
    data: z
      .array(
        z.object({
          object: z.literal('embedding').describe('The kind of object.'),
          index: z.number().int().describe('The place of the text in the input.'),
          embedding: z.union([z.array(z.number()), z.string()]).describe('The vector: numbers, or base64.'),
        }),
      )
      .describe('The vectors, in the order of the input.'),
    model: z.string().describe('The model that embedded.'),
    usage: usage.describe('Tokens of the call.'),
  })
  .meta({ id: 'EmbeddingList' });

const ranking = z.union([
  z.string(),
  z.array(z.union([z.string(), z.looseObject({ text: z.string().describe('What it says.') })])).min(1),
]);
const most = z.number().int().min(1).nullish();
export const rerankBody = z.object({
  model: z.string().describe('The id of the configured reranker model.'),
  query: z.string().describe('What the documents are ranked by.'),
  input: ranking.nullish().describe('Documents to rank. Needed, unless they are sent as `documents`.'),
  documents: ranking.nullish().describe('The same as `input`, which goes first.'),
  top_k: most.describe('How many to return, all by default.'),
  top_n: most.describe('The same as `top_k`, which goes first.'),
});
const ranked = z.array(
  z.object({
    index: z.number().int().describe('The place of the document in the input.'),
    relevance_score: z.number().describe('How relevant it is; higher is more.'),
  }),
);
export const rerankList = z
  .object({
    object: z.literal('list').describe('The kind of object.'),
    data: ranked.describe('The documents, most relevant first.'),
    results: ranked.describe('The same as `data`, for clients that read it here.'),
    model: z.string().describe('The model that ranked.'),
    usage: usage.describe('Tokens of the call.'),
  })
  .meta({ id: 'RerankResult' });

export const gatewayModel = z
  .object({
    id: z.string().describe('The id of the model.'),
    object: z.literal('model').describe('The kind of object.'),
    created: z.number().int().describe('When the catalogue was written, seconds since 1970.'),
    owned_by: z.string().describe('Its provider.'),
  })
  .meta({ id: 'GatewayModel' });
export const gatewayModels = z
  .object({
    object: z.literal('list').describe('The kind of object.'),
    data: z.array(gatewayModel).describe('The models.'),
  })
  .meta({ id: 'GatewayModelList' });
