import { Access, type AgentAccess, type Caller } from '@app/access';
import {
  Accepts,
  Answers,
  BodyInput,
  CommandContext,
  CurrentCaller,
  Documented,
  flagText,
  type Input,
  type JsonText,
  presenter,
  QueryInput,
  Reads,
  Rejects,
  Requires,
  Writes,
} from '@app/http';
import type { CommandMeta } from '@app/kernel';
import {
  buildFailureMessage,
  buildMode,
  EndBuild,
  type ShownIndex,
  ShownIndexes,
  StartBuild,
} from '@app/section-summaries';
import { Controller, Delete, Get, Param, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';

const count = z.number().int().nonnegative();

const building = z.strictObject({
  mode: buildMode.default('build').describe('`build` makes only what is missing; `rebuild` makes everything again.'),
});

const ending = z.strictObject({
  purge: flagText.default(false).describe('Also deletes the index permanently.'),
});

const summaryIndexView = presenter<ShownIndex>(
  'SummaryIndex',
  z.object({
    state: z.enum(['absent', 'building', 'ready', 'failed']).describe('The state of the index.'),
    estimate: z
      .object({
        calls: count.describe('Model calls.'),
        tokens: count.describe('Their tokens.'),
        cost: z.string().describe('Their cost, a decimal in the currency of the instance.'),
      })
      .describe('The estimated size of the running build, or else of a new one.'),
    progress: z
      .object({
        done: count.describe('Summaries made so far.'),
        total: count.describe('The estimated total.'),
      })
      .describe('The progress of the running build, or else the size of the index.'),
    levels: count.describe('Levels of summaries.'),
    summaries: count.describe('Summaries in the index. Fewer than were built if documents have been deleted since.'),
    builtAt: z.string().nullable().describe('When it was built, ISO 8601 in UTC.'),
    failure: z
      .object({
        code: z.string().describe('A stable error code.'),
        message: z.string().describe('The reason as a sentence.'),
      })
      .nullable()
      .describe('Why the last build failed; null if it did not.'),
  }),
  ({ failure, ...index }) => ({
    ...index,
    failure: failure === null ? null : { code: failure, message: buildFailureMessage(failure) },
  }),
);

const VIEWS = ['summary-builds'];

/** The section-summary index of an Agent. */
@Documented('Documents')
@Controller('/api/v1/core/knowledge/:agentId/summary-index')
export class SummaryIndexController {
  constructor(
    private readonly commands: CommandBus,
    private readonly access: Access,
    private readonly indexes: ShownIndexes,
    private readonly writes: Writes,
  ) {}

  @Get()
  @Requires('knowledge:read')
  @ApiOperation({
    operationId: 'getSummaryIndex',
    summary: 'Reads the state of the section-summary index, and the estimated cost of a build.',
  })
  @Answers(200, summaryIndexView.schema)
  @Rejects('model_not_available')
  @Reads('documents', 'section-summaries')
  async read(@CurrentCaller() caller: Caller, @Param('agentId') agentId: string): Promise<JsonText> {
    return this.shown(await this.access.agent(caller, agentId, 'use'));
  }

  @Post()
  @Requires('knowledge:write')
  @ApiOperation({
    operationId: 'buildSummaryIndex',
    summary:
      'Builds the section-summary index from the Ready documents that the Agent searches, with its model. Until it is done, the existing index is used.',
  })
  @Accepts({ required: false })
  @Answers(202, summaryIndexView.schema)
  @Rejects('model_not_available')
  async build(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(building) body: Input<typeof building>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const found = await this.access.agent(caller, agentId, 'edit');
    const { mode } = body.parse({});
    const { model } = found.agent.version.config;
    const receipt = await this.commands.execute(new StartBuild({ agentId, spaceId: found.spaceId, model }, mode, meta));
    return this.writes.answer(reply, receipt, { views: VIEWS, show: () => this.shown(found) });
  }

  @Delete()
  @Requires('knowledge:write')
  @ApiOperation({
    operationId: 'cancelSummaryIndexBuild',
    summary:
      'Cancels the running build; the index stays as it was. With `purge=true`, also deletes the index permanently.',
  })
  @Answers(204)
  async end(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @QueryInput(ending) query: Input<typeof ending>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.agent(caller, agentId, 'edit');
    const { purge } = query.parse();
    return this.writes.answer(reply, await this.commands.execute(new EndBuild(agentId, purge, meta)), { views: VIEWS });
  }

  private async shown({ agentId, spaceId, agent }: AgentAccess): Promise<JsonText> {
    const { model } = agent.version.config;
    return summaryIndexView(await this.indexes.of({ agentId, spaceId, model }));
  }
}
