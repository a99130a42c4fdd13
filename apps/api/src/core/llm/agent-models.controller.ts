import { Access, type Caller } from '@app/access';
import { Answers, CurrentCaller, Documented, type JsonText, presenter, Reads, Requires } from '@app/http';
import { Models } from '@app/models';
import { Controller, Get, Param } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { z } from 'zod';

const modelInfo = z
  .object({
    key: z.string().describe('The id that requests and Agents use.'),
    modelId: z.string().describe("The provider's name of the model."),
    displayName: z.string().describe('Its display name.'),
    provider: z.string().describe('Its provider.'),
    region: z.string().nullable().describe('The region where it runs, if known.'),
    securityTier: z.enum(['secure', 'eu-hosted', 'us-cloud']).describe('How well it protects what is sent to it.'),
    locationLabel: z.string().nullable().describe('Where it runs, as text.'),
    tags: z.array(z.string()).describe('What it is good for.'),
    pricing: z
      .union([z.literal('free'), z.looseObject({ currency: z.string().describe('The currency of its prices.') })])
      .describe('Its price.'),
  })
  .meta({ id: 'Model' });
const agentModels = presenter(
  'AgentModels',
  z.object({
    defaultModel: z.string().describe("The Agent's own model, or the default if it cannot use that one."),
    availableModels: z.array(z.string()).describe('The ids of the models.'),
    models: z.array(modelInfo).describe('The models.'),
  }),
);

/** The models that an Agent may use. */
@Documented('Agents')
@Controller('/api/v1/core/llm/:agentId/models')
export class AgentModelsController {
  constructor(
    private readonly access: Access,
    private readonly models: Models,
  ) {}

  @Get()
  @Requires('llm')
  @ApiOperation({
    operationId: 'listAgentModels',
    summary: "Lists the chat models that an Agent can use. `defaultModel` is the Agent's own.",
  })
  @Answers(200, agentModels.schema)
  @Reads()
  async list(@CurrentCaller() caller: Caller, @Param('agentId') agentId: string): Promise<JsonText> {
    const { agent } = await this.access.agent(caller, agentId, 'use');
    const { model, allowedModels } = agent.version.config;
    const { defaultModel, models } = this.models.catalogue;
    const available = [...models.values()].filter(
      ({ key, kind }) => kind === 'chat' && (allowedModels?.includes(key) ?? true),
    );
    const keys = available.map(({ key }) => key);
    return agentModels({
      defaultModel: keys.includes(model) ? model : defaultModel,
      availableModels: keys,
      models: available,
    });
  }
}
