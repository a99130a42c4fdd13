import { z } from 'zod';

// What the documentation shows. Bodies are checked by hand, in the words and codes that clients of this format know.

const usage = z.object({
  prompt_tokens: z.number().int().describe('Tokens of the input.'),
  completion_tokens: z.number().int().optional().describe('Tokens of the output.'),
  total_tokens: z.number().int().describe('Tokens altogether.'),
});

export const chatBody = z.object({
  model: z.string().describe('The id of a configured chat model.'),
  messages: z
    .array(
      z.looseObject({
        role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']).describe('Who says it.'),
        content: z
          .union([z.string(), z.array(z.looseObject({ type: z.string().describe('Its kind.') })), z.null()])
          .optional()
          .describe('What is said: text, or parts.'),
      }),
    )
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
  tools: z
    .array(z.looseObject({ type: z.string().describe('Its kind.') }))
    .nullish()
    .describe('Tools that the model may call.'),
  tool_choice: z
    .union([z.string(), z.looseObject({})])
    .nullish()
    .describe('Which tool it calls.'),
  stream: z.boolean().nullish().describe('Answers as Server-Sent Events.'),
  stream_options: z
    .looseObject({ include_usage: z.boolean().nullish().describe('Sends the usage at the end of the stream.') })
    .nullish()
    .describe('How it streams.'),
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
              content: z.string().nullable().describe('What is said.'),
            })
            .describe('The message.'),
          finish_reason: z.string().describe('Why it ended.'),
        }),
      )
      .describe('The answers.'),
    usage: usage.describe('Tokens of the call.'),
  })
  .meta({ id: 'ChatCompletion' });

export const embeddingsBody = z.object({
  model: z.string().describe('The id of a configured embedding model.'),
  input: z.union([z.string(), z.array(z.string()).min(1).max(2_048)]).describe('One text, or several.'),
  encoding_format: z.enum(['float', 'base64']).nullish().describe('How vectors are written.'),
  dimensions: z.number().int().min(1).nullish().describe('Cuts each vector to this length.'),
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

export const rerankBody = z.object({
  model: z.string().describe('The id of the configured reranker model.'),
  query: z.string().describe('What the documents are ranked by.'),
  input: z.union([z.string(), z.array(z.string()).min(1)]).describe('Documents to rank; also taken as `documents`.'),
  top_k: z.number().int().min(1).nullish().describe('How many to return, all by default; also taken as `top_n`.'),
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
