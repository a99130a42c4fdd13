import { chunkingSchema, nameSchema, textSchema } from '@app/kernel';
import { z } from 'zod';
import { allowedUrls } from './allowed-urls';
import { toolsInput } from './tools';

const control = (value: z.ZodNumber) =>
  z.strictObject({
    enabled: z.boolean().describe('Whether it is sent to the model.'),
    value: value.nullable().describe('The value; null for that of the request, or else the default of the model.'),
  });

/** Each control can be disabled. Enabled without a value, the request decides, then the model. */
const sampling = z.strictObject({
  temperature: control(z.number().min(0).max(2)).describe('Sampling temperature.'),
  topP: control(z.number().min(0).max(1)).describe('Nucleus sampling (top-p).'),
  topK: control(z.number().int().min(1).max(1_000)).describe('Sampling from the most likely tokens (top-k).'),
});

const publication = z.strictObject({
  enabled: z.boolean().describe('Whether anybody can chat with the Agent.'),
  allowedUrls: allowedUrls.describe('Origins that can embed it. If empty, only pages of the instance can.'),
  sessionMinutes: z
    .number()
    .int()
    .min(0)
    .max(43_200)
    .describe('How many minutes a visitor can resume a conversation; 0 for never.'),
  windowTitle: z.union([z.literal(''), nameSchema(100)]).describe('The title of the chat window.'),
});

const modelKey = z.string().min(1).max(200);

/** The configuration of an Agent, as requests give it. Field names are wire names and storage formats; `tools` differ. */
export const agentConfig = z.strictObject({
  name: nameSchema().describe('Its name.'),
  description: textSchema(2_000).describe('What it is for.'),
  model: modelKey.describe('Its chat model.'),
  allowedModels: z
    .array(modelKey)
    .min(1)
    .max(200)
    .nullable()
    .describe('Models that requests can choose; null for every chat model.'),
  systemPrompt: textSchema(100_000).describe('The system prompt.'),
  memoryEnabled: z.boolean().describe('Whether it remembers each user.'),
  sharedMemoryEnabled: z.boolean().describe('Whether it has memories that all its users share.'),
  knowledgeEnabled: z.boolean().describe('Whether it searches its documents.'),
  includeAiSummary: z.boolean().describe('Whether sources include a summary of their section.'),
  codeExecutionEnabled: z.boolean().describe('Whether it can run code.'),
  sampling: sampling.describe('Sampling settings.'),
  tools: toolsInput,
  chunking: chunkingSchema
    .nullable()
    .describe('How new content is split into chunks; null for the setting of its Space.'),
  public: publication.describe('Settings of the public chat.'),
});
export type AgentConfig = z.output<typeof agentConfig>;

/** A change of the configuration. Absent fields do not change, also inside `sampling` and `public`. */
export const agentUpdate = agentConfig
  .extend({
    sampling: sampling
      .extend({
        temperature: sampling.shape.temperature.partial().describe('Sampling temperature.'),
        topP: sampling.shape.topP.partial().describe('Nucleus sampling (top-p).'),
        topK: sampling.shape.topK.partial().describe('Sampling from the most likely tokens (top-k).'),
      })
      .partial()
      .describe('Sampling settings.'),
    public: publication.partial().describe('Settings of the public chat.'),
  })
  .partial();
export type AgentUpdate = z.output<typeof agentUpdate>;

const OFF = { enabled: true, value: null };

/** The defaults of a new Agent, which has no tools. */
export type DefaultConfig = Omit<AgentConfig, 'tools'> & { readonly tools: never[] };

/** What a new Agent has of everything that is not given. */
export const defaultConfig = (name: string, model: string): DefaultConfig => ({
  name,
  description: '',
  model,
  allowedModels: null,
  systemPrompt: '',
  memoryEnabled: true,
  sharedMemoryEnabled: false,
  knowledgeEnabled: true,
  includeAiSummary: false,
  codeExecutionEnabled: false,
  sampling: { temperature: OFF, topP: OFF, topK: OFF },
  tools: [],
  chunking: null,
  public: { enabled: false, allowedUrls: [], sessionMinutes: 0, windowTitle: '' },
});
