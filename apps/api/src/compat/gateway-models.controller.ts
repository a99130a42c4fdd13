import { Answers, Documented, Reads, Requires } from '@app/http';
import { type ModelDescription, Models } from '@app/models';
import { Controller, Get, Param } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { z } from 'zod';
import { gatewayModel, gatewayModels } from './compat-schemas';
import { modelNotFound } from './known-model';

/** The models that clients may name: chat and embedding models, and the reranker, which is not listed. */
@Documented('Gateway')
@Controller('/api/compat/v1/models')
export class GatewayModelsController {
  constructor(private readonly models: Models) {}

  @Get()
  @Requires('compat')
  @ApiOperation({ operationId: 'listModels', summary: 'Lists the configured chat and embedding models.' })
  @Answers(200, gatewayModels)
  @Reads()
  list(): z.output<typeof gatewayModels> {
    return {
      object: 'list',
      data: [...this.models.catalogue.models.values()].filter(isListed).map((model) => this.shown(model)),
    };
  }

  @Get('*')
  @Requires('compat')
  @ApiOperation({
    operationId: 'getModel',
    summary: 'Reads one of the listed models, or the reranker. Ids can contain slashes, percent-encoded or not.',
  })
  @Answers(200, gatewayModel)
  @Reads()
  read(@Param('*') id: string): z.output<typeof gatewayModel> {
    const { models, rerankerModel } = this.models.catalogue;
    const model = models.get(id);
    if (model === undefined || !(isListed(model) || id === rerankerModel)) throw modelNotFound(id, 'model');
    return this.shown(model);
  }

  private shown({ key, provider }: ModelDescription): z.output<typeof gatewayModel> {
    return { id: key, object: 'model', created: this.models.catalogue.writtenAt, owned_by: provider };
  }
}

const isListed = ({ kind }: ModelDescription): boolean => kind === 'chat' || kind === 'embedding';
