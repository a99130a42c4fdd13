import {
  Accepts,
  Answers,
  BodyInput,
  CommandContext,
  Documented,
  type Input,
  type JsonText,
  Reads,
  Rejects,
  Requires,
  Writes,
} from '@app/http';
import { type CommandMeta, CONFIG, type Config } from '@app/kernel';
import {
  UpdateReindex,
  INSTANCE,
  type ReindexAction,
  Reindexes,
  type ReindexPlace,
  StartReindex,
} from '@app/knowledge';
import { Controller, Get, Inject, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { newInstanceReindex, reindexView } from '../core/knowledge/reindex-schemas';

const VIEWS = ['reindexes'];
const PLACE: ReindexPlace = { scope: 'instance', agentId: null, spaceId: null };

/** Re-indexing of all documents by the configured embedding model. */
@Documented('Operations')
@Controller('api/v1/operations/reindex')
export class InstanceReindexController {
  constructor(
    private readonly commands: CommandBus,
    private readonly reindexes: Reindexes,
    @Inject(CONFIG) private readonly config: Config,
    private readonly writes: Writes,
  ) {}

  @Get()
  @Requires('operations')
  @ApiOperation({
    operationId: 'getInstanceReindex',
    summary:
      'Reads the state of the re-index with the configured embedding model. If there is none, `progress.total` is the number of documents that need it.',
  })
  @Answers(200, reindexView.schema)
  @Reads('documents')
  read(): Promise<JsonText> {
    return this.show();
  }

  @Post()
  @Requires('operations')
  @ApiOperation({
    operationId: 'startInstanceReindex',
    summary:
      'Starts a re-index: embeds all documents with the configured embedding model, beside the passages that are searched. With `dryRun`, only estimates it (200).',
  })
  @Accepts({ required: false })
  @Answers(202, reindexView.schema)
  @Answers(200, reindexView.schema)
  @Rejects('conflict', 'model_not_available')
  async start(
    @BodyInput(newInstanceReindex) body: Input<typeof newInstanceReindex>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonText | undefined> {
    const { dryRun } = body.parse({});
    const plan = await this.reindexes.plan(PLACE);
    if (dryRun) {
      const progress = { done: 0, total: plan.documents };
      const currency = this.config.DEFAULT_CURRENCY;
      return reindexView({ scope: 'instance', state: 'none', code: null, estimate: plan.estimate, progress, currency });
    }
    reply.status(202);
    const receipt = await this.commands.execute(new StartReindex(plan, meta));
    return this.writes.answer(reply, receipt, { views: VIEWS, show: () => this.show() });
  }

  @Post('pause')
  @Requires('operations')
  @ApiOperation({ operationId: 'pauseInstanceReindex', summary: 'Pauses the re-index. Its passages are kept.' })
  @Answers(200, reindexView.schema)
  @Rejects('conflict')
  pause(@CommandContext() meta: CommandMeta, @Res({ passthrough: true }) reply: FastifyReply) {
    return this.act('Pause', meta, reply);
  }

  @Post('resume')
  @Requires('operations')
  @ApiOperation({ operationId: 'resumeInstanceReindex', summary: 'Resumes a paused or failed re-index.' })
  @Answers(200, reindexView.schema)
  @Rejects('conflict')
  resume(@CommandContext() meta: CommandMeta, @Res({ passthrough: true }) reply: FastifyReply) {
    return this.act('Resume', meta, reply);
  }

  @Post('cancel')
  @Requires('operations')
  @ApiOperation({ operationId: 'cancelInstanceReindex', summary: 'Cancels the re-index and deletes its passages.' })
  @Answers(200, reindexView.schema)
  @Rejects('conflict')
  cancel(@CommandContext() meta: CommandMeta, @Res({ passthrough: true }) reply: FastifyReply) {
    return this.act('Cancel', meta, reply);
  }

  @Post('swap')
  @Requires('operations')
  @ApiOperation({
    operationId: 'swapInstanceReindex',
    summary:
      'Starts searching the new passages, document by document. The previous ones are kept until the next re-index.',
  })
  @Answers(200, reindexView.schema)
  @Rejects('conflict')
  swap(@CommandContext() meta: CommandMeta, @Res({ passthrough: true }) reply: FastifyReply) {
    return this.act('Swap', meta, reply);
  }

  @Post('rollback')
  @Requires('operations')
  @ApiOperation({
    operationId: 'rollBackInstanceReindex',
    summary: 'Restores the previous passages, so that they are searched again.',
  })
  @Answers(200, reindexView.schema)
  @Rejects('conflict')
  rollBack(@CommandContext() meta: CommandMeta, @Res({ passthrough: true }) reply: FastifyReply) {
    return this.act('RollBack', meta, reply);
  }

  private async act(action: ReindexAction, meta: CommandMeta, reply: FastifyReply): Promise<JsonText | undefined> {
    const receipt = await this.commands.execute(new UpdateReindex(INSTANCE, action, meta));
    return this.writes.answer(reply, receipt, { views: VIEWS, show: () => this.show() });
  }

  private async show(): Promise<JsonText> {
    return reindexView({ ...(await this.reindexes.report(PLACE)), currency: this.config.DEFAULT_CURRENCY });
  }
}
