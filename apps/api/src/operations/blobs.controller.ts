import { operatorActions } from '@app/auditing';
import { BlobSweep } from '@app/hosting';
import { Answers, CommandContext, Documented, Requires } from '@app/http';
import { type CommandMeta, Decisions } from '@app/kernel';
import { Controller, Post } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { z } from 'zod';

const sweptSchema = z
  .object({
    blobs: z.number().int().describe('The number of stored blobs.'),
    removed: z.number().int().describe('The number of blobs removed.'),
  })
  .meta({ id: 'BlobSweep' });

@Documented('Operations')
@Controller('api/v1/operations/blobs')
export class BlobsController {
  constructor(
    private readonly blobSweep: BlobSweep,
    private readonly decisions: Decisions,
  ) {}

  @Post('sweep')
  @Requires('operations')
  @ApiOperation({
    operationId: 'sweepBlobs',
    summary: 'Removes blobs that no event names and that are older than a day. This also runs every hour.',
  })
  @Answers(200, sweptSchema)
  async sweep(@CommandContext() meta: CommandMeta): Promise<z.output<typeof sweptSchema>> {
    await this.decisions.transact(operatorActions, 'blobs', { type: 'BlobSweepRequested', data: {} }, meta);
    return this.blobSweep.sweep();
  }
}
