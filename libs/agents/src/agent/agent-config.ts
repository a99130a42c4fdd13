import { nameSchema, textSchema } from '@app/kernel';
import { z } from 'zod';
import { allowedUrls } from './allowed-urls';

const control = (value: z.ZodNumber) => z.strictObject({ enabled: z.boolean(), value: value.nullable() });

/** Each control can be disabled. Enabled without a value, the request decides, then the model. */
const sampling = z.strictObject({
  temperature: control(z.number().min(0).max(2)),
  topP: control(z.number().min(0).max(1)),
  topK: control(z.number().int().min(1).max(1_000)),
});

const tool = z.strictObject({
  id: z.string().regex(/^[\w.-]{1,100}$/, 'must be an identifier'),
  name: nameSchema(100),
  kind: z.string().regex(/^[a-z][a-zA-Z-]{0,39}$/, 'must be a kind of tool'),
  enabled: z.boolean(),
  approval: z.enum(['never', 'always']),
});

const publication = z.strictObject({
  enabled: z.boolean(),
  allowedUrls,
  /** Minutes for which a visitor's conversation can be resumed; 0 for never. */
  sessionMinutes: z.number().int().min(0).max(43_200),
  windowTitle: z.union([z.literal(''), nameSchema(100)]),
});

const modelKey = z.string().min(1).max(200);

/** The configuration of an Agent. Field names are wire names and storage formats. */
export const agentConfig = z.strictObject({
  name: nameSchema(),
  description: textSchema(2_000),
  model: modelKey,
  /** Null: every chat model. */
  allowedModels: z.array(modelKey).min(1).max(200).nullable(),
  systemPrompt: textSchema(100_000),
  memoryEnabled: z.boolean(),
  sharedMemoryEnabled: z.boolean(),
  knowledgeEnabled: z.boolean(),
  includeAiSummary: z.boolean(),
  codeExecutionEnabled: z.boolean(),
  sampling,
  tools: z
    .array(tool)
    .max(100)
    .refine((tools) => new Set(tools.map(({ id }) => id)).size === tools.length, {
      message: 'must not name a tool twice',
    }),
  public: publication,
});
export type AgentConfig = z.output<typeof agentConfig>;

/** A change of the configuration. Absent fields do not change, also inside `sampling` and `public`. */
export const agentChange = agentConfig
  .extend({
    sampling: sampling
      .extend({
        temperature: sampling.shape.temperature.partial(),
        topP: sampling.shape.topP.partial(),
        topK: sampling.shape.topK.partial(),
      })
      .partial(),
    public: publication.partial(),
  })
  .partial();
export type AgentChange = z.output<typeof agentChange>;

const OFF = { enabled: true, value: null };

/** The defaults of a new Agent. */
export const defaultConfig = (name: string, model: string): AgentConfig => ({
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
  public: { enabled: false, allowedUrls: [], sessionMinutes: 0, windowTitle: '' },
});
