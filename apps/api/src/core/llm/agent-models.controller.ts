import { Access, type Caller } from '@app/access';
import { type ModelDescription, Models } from '@app/models';
import { Controller, Get, Param } from '@nestjs/common';
import { z } from 'zod';
import { Answers, CurrentCaller, Requires, Summary } from '../../http';

const modelInfo = z.object({
  key: z.string(),
  modelId: z.string(),
  displayName: z.string(),
  provider: z.string(),
  region: z.string().nullable(),
  securityTier: z.enum(['secure', 'eu-hosted', 'us-cloud']),
  locationLabel: z.string().nullable(),
  tags: z.array(z.string()),
  pricing: z.union([z.literal('free'), z.looseObject({ currency: z.string() })]),
});
const agentModels = z.object({
  defaultModel: z.string(),
  availableModels: z.array(z.string()),
  models: z.array(modelInfo),
});

/** The models that an Agent may use. */
@Controller('/api/v1/core/llm/:agentId/models')
export class AgentModelsController {
  constructor(
    private readonly access: Access,
    private readonly models: Models,
  ) {}

  @Get()
  @Requires('llm')
  @Summary("Lists the chat models that an Agent may use; `defaultModel` is the Agent's own.")
  @Answers(200, agentModels)
  async list(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
  ): Promise<z.output<typeof agentModels>> {
    const { agent } = await this.access.agent(caller, agentId, 'use');
    const { model, allowedModels } = agent.version.config;
    const { defaultModel, models } = this.models.catalogue;
    const available = [...models.values()].filter(
      ({ key, kind }) => kind === 'chat' && (allowedModels?.includes(key) ?? true),
    );
    const keys = available.map(({ key }) => key);
    return {
      defaultModel: keys.includes(model) ? model : defaultModel,
      availableModels: keys,
      models: available.map(shown),
    };
  }
}

const shown = ({
  key,
  modelId,
  displayName,
  provider,
  region,
  securityTier,
  locationLabel,
  tags,
  pricing,
}: ModelDescription): z.output<typeof modelInfo> => ({
  key,
  modelId,
  displayName,
  provider,
  region,
  securityTier,
  locationLabel,
  tags: [...tags],
  pricing,
});
