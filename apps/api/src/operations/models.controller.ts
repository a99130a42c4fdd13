import { operatorActions } from '@app/auditing';
import { Answers, CommandContext, Documented, InvalidInput, Rejects, Requires } from '@app/http';
import { type CommandMeta, Decisions, retryUntilAnswered, InvalidConfig, isUnavailable } from '@app/kernel';
import { Models, recordCatalogue } from '@app/models';
import { Controller, Post } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { z } from 'zod';

const catalogueSchema = z
  .object({
    defaultModel: z.string().describe('The model of Agents without one.'),
    models: z.array(z.string()).describe('The ids of all models.'),
  })
  .meta({ id: 'ModelCatalogue' });

@Documented('Operations')
@Controller('api/v1/operations/models')
export class ModelsController {
  constructor(
    private readonly models: Models,
    private readonly decisions: Decisions,
  ) {}

  @Post('reload')
  @Requires('operations')
  @ApiOperation({
    operationId: 'reloadModels',
    summary: 'Reloads the model catalogue. An invalid one is rejected, and nothing changes.',
  })
  @Answers(200, catalogueSchema)
  @Rejects('invalid_parameter')
  async reload(@CommandContext() meta: CommandMeta): Promise<z.output<typeof catalogueSchema>> {
    await this.decisions.transact(operatorActions, 'models', { type: 'ModelCatalogueReloadRequested', data: {} }, meta);
    try {
      this.models.reload();
    } catch (error) {
      if (!(error instanceof InvalidConfig)) throw error;
      throw new InvalidInput('invalid_parameter', [
        { path: 'MODELS_FILE', code: 'invalid_config', message: error.message },
      ]);
    }
    const record = () => recordCatalogue(this.decisions, this.models.catalogue, meta);
    await record().catch((error: unknown) => {
      // What is billed by is in the log in the end, at the latest by the next start, which records what is missing: so nothing is lost where this gives up.
      if (isUnavailable(error)) void retryUntilAnswered(record).catch(() => undefined);
      throw error;
    });
    const { defaultModel, models } = this.models.catalogue;
    return { defaultModel, models: [...models.keys()] };
  }
}
