import { Access, type AgentAccess, type Caller } from '@app/access';
import {
  Accepts,
  Answers,
  BodyInput,
  CommandContext,
  CurrentCaller,
  Documented,
  type Input,
  type JsonText,
  QueryInput,
  Reads,
  Rejects,
  Requires,
  Writes,
} from '@app/http';
import { type CommandMeta, CONFIG, type Config } from '@app/kernel';
import {
  UpdateReindex,
  type ReindexAction,
  Reindexes,
  reindexId,
  type ReindexPlace,
  StartReindex,
} from '@app/knowledge';
import { Controller, Get, Inject, Param, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { newReindex, reindexAction, type reindexPlace, reindexQuery, reindexView } from './reindex-schemas';

const VIEWS = ['reindexes'];

/** Re-indexing of what an Agent searches. The jobs of the instance are among the operations. */
@Documented('Documents')
@Controller('/api/v1/core/knowledge/:agentId/reindex')
export class ReindexController {
  constructor(
    private readonly access: Access,
    private readonly commands: CommandBus,
    private readonly reindexes: Reindexes,
    @Inject(CONFIG) private readonly config: Config,
    private readonly writes: Writes,
  ) {}

  @Get()
  @Requires('knowledge:read')
  @ApiOperation({
    operationId: 'getReindex',
    summary: "Reads the state of the re-index of an Agent's or its Space's documents, or an estimate if there is none.",
  })
  @Answers(200, reindexView.schema)
  @Reads('documents')
  async read(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @QueryInput(reindexQuery) query: Input<typeof reindexQuery>,
  ): Promise<JsonText> {
    const agent = await this.access.agent(caller, agentId, 'use');
    return this.show(await this.placeOf(agent, query.parse().scope));
  }

  @Post()
  @Requires('knowledge:write')
  @ApiOperation({
    operationId: 'startReindex',
    summary:
      'Starts a re-index: makes new passages with the current chunking and embedding model, beside those that are searched. With `dryRun`, only estimates it (200).',
  })
  @Accepts({ required: false })
  @Answers(202, reindexView.schema)
  @Answers(200, reindexView.schema)
  @Rejects('conflict', 'model_not_available')
  async start(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(newReindex) body: Input<typeof newReindex>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonText | undefined> {
    const agent = await this.access.agent(caller, agentId, 'edit');
    const { scope, dryRun } = body.parse({});
    const place = await this.placeOf(agent, scope);
    const plan = await this.reindexes.plan(place);
    if (dryRun) {
      const progress = { done: 0, total: plan.documents };
      const { currency } = this;
      return reindexView({ scope, state: 'none', code: null, estimate: plan.estimate, progress, currency });
    }
    reply.status(202);
    return this.writes.answer(reply, await this.commands.execute(new StartReindex(plan, meta)), {
      views: VIEWS,
      show: () => this.show(place),
    });
  }

  @Post('pause')
  @Requires('knowledge:write')
  @ApiOperation({ operationId: 'pauseReindex', summary: 'Pauses a re-index. Its passages are kept.' })
  @Accepts({ required: false })
  @Answers(200, reindexView.schema)
  @Rejects('conflict')
  pause(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(reindexAction) body: Input<typeof reindexAction>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.act('Pause', { caller, agentId, body, meta, reply });
  }

  @Post('resume')
  @Requires('knowledge:write')
  @ApiOperation({ operationId: 'resumeReindex', summary: 'Resumes a paused or failed re-index.' })
  @Accepts({ required: false })
  @Answers(200, reindexView.schema)
  @Rejects('conflict')
  resume(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(reindexAction) body: Input<typeof reindexAction>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.act('Resume', { caller, agentId, body, meta, reply });
  }

  @Post('cancel')
  @Requires('knowledge:write')
  @ApiOperation({ operationId: 'cancelReindex', summary: 'Cancels a re-index and deletes its passages.' })
  @Accepts({ required: false })
  @Answers(200, reindexView.schema)
  @Rejects('conflict')
  cancel(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(reindexAction) body: Input<typeof reindexAction>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.act('Cancel', { caller, agentId, body, meta, reply });
  }

  @Post('swap')
  @Requires('knowledge:write')
  @ApiOperation({
    operationId: 'swapReindex',
    summary:
      'Starts searching the new passages, document by document. The previous ones are kept until the next re-index.',
  })
  @Accepts({ required: false })
  @Answers(200, reindexView.schema)
  @Rejects('conflict')
  swap(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(reindexAction) body: Input<typeof reindexAction>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.act('Swap', { caller, agentId, body, meta, reply });
  }

  @Post('rollback')
  @Requires('knowledge:write')
  @ApiOperation({
    operationId: 'rollBackReindex',
    summary: 'Restores the previous passages, so that they are searched again.',
  })
  @Accepts({ required: false })
  @Answers(200, reindexView.schema)
  @Rejects('conflict')
  rollBack(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(reindexAction) body: Input<typeof reindexAction>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.act('RollBack', { caller, agentId, body, meta, reply });
  }

  private async act(
    action: ReindexAction,
    {
      caller,
      agentId,
      body,
      meta,
      reply,
    }: { caller: Caller; agentId: string; body: Input<typeof reindexAction>; meta: CommandMeta; reply: FastifyReply },
  ): Promise<JsonText | undefined> {
    const agent = await this.access.agent(caller, agentId, 'edit');
    const place = await this.placeOf(agent, body.parse({}).scope);
    const receipt = await this.commands.execute(new UpdateReindex(reindexId(place), action, meta));
    return this.writes.answer(reply, receipt, { views: VIEWS, show: () => this.show(place) });
  }

  private async placeOf(
    { agentId, spaceId }: AgentAccess,
    scope: z.output<typeof reindexPlace> | undefined,
  ): Promise<ReindexPlace> {
    const own = { scope: 'agent', agentId, spaceId } as const;
    const shared = { scope: 'space', agentId: null, spaceId } as const;
    if (scope !== undefined) return scope === 'agent' ? own : shared;
    return !(await this.reindexes.exists(own)) && (await this.reindexes.exists(shared)) ? shared : own;
  }

  private async show(place: ReindexPlace): Promise<JsonText> {
    return reindexView({ ...(await this.reindexes.report(place)), currency: this.currency });
  }

  private get currency(): string {
    return this.config.DEFAULT_CURRENCY;
  }
}
