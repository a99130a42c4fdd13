import { z } from 'zod';

// What the documentation shows. Bodies are checked by hand, in the words and codes that clients of this format know.

const usage = z.object({
  prompt_tokens: z.number().int(),
  completion_tokens: z.number().int().optional(),
  total_tokens: z.number().int(),
});

export const chatBody = z.object({
  model: z.string().describe('The id of a configured chat model.'),
  messages: z.array(
    z.looseObject({
      role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
      content: z.union([z.string(), z.array(z.looseObject({ type: z.string() })), z.null()]).optional(),
    }),
  ),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_completion_tokens: z.number().int().min(1).nullish().describe('Takes precedence over `max_tokens`.'),
  max_tokens: z.number().int().min(1).nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  seed: z.number().int().nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  tools: z.array(z.looseObject({ type: z.string() })).nullish(),
  tool_choice: z.union([z.string(), z.looseObject({})]).nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
});
export const chatCompletion = z.object({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.number().int(),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      index: z.number().int(),
      message: z.looseObject({ role: z.literal('assistant'), content: z.string().nullable() }),
      finish_reason: z.string(),
    }),
  ),
  usage,
});

export const embeddingsBody = z.object({
  model: z.string().describe('The id of a configured embedding model.'),
  input: z.union([z.string(), z.array(z.string()).min(1).max(2_048)]),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  dimensions: z.number().int().min(1).nullish().describe('Cuts each vector to this length.'),
});
export const embeddingsList = z.object({
  object: z.literal('list'),
  data: z.array(
    z.object({
      object: z.literal('embedding'),
      index: z.number().int(),
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
  model: z.string(),
  usage,
});

export const rerankBody = z.object({
  model: z.string().describe('The id of the configured reranker model.'),
  query: z.string(),
  input: z.union([z.string(), z.array(z.string()).min(1)]).describe('Documents to rank; also taken as `documents`.'),
  top_k: z.number().int().min(1).nullish().describe('How many to return, all by default; also taken as `top_n`.'),
});
const ranked = z.array(z.object({ index: z.number().int(), relevance_score: z.number() }));
export const rerankList = z.object({
  object: z.literal('list'),
  data: ranked,
  results: ranked.describe('The same as `data`, for clients that read it here.'),
  model: z.string(),
  usage,
});

export const gatewayModel = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.number().int(),
  owned_by: z.string(),
});
export const gatewayModels = z.object({ object: z.literal('list'), data: z.array(gatewayModel) });
