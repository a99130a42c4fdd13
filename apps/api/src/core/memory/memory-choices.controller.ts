import type { Caller } from '@app/access';
import { Answers, CommandContext, CurrentCaller, Documented, Rejects, Requires, Writes } from '@app/http';
import type { CommandMeta } from '@app/kernel';
import { ChooseMemory, type MemoryChoice } from '@app/memory';
import { GetMemory } from '@projections/memories';
import { Controller, Param, Post, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { memoryView, presentMemory } from './memories-schemas';
import { MemoryCallers } from './memory-callers';

/** What becomes of a proposed memory: its user alone says so, once. */
@Documented('Memories')
@Controller('/api/v1/core/memory/:agentId/memories/:memoryId')
export class MemoryChoicesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly callers: MemoryCallers,
    private readonly writes: Writes,
  ) {}

  @Post('confirm')
  @Requires('memory:write')
  @ApiOperation({
    operationId: 'confirmMemory',
    summary: 'Confirms a proposed memory, so that it is saved as proposed.',
  })
  @Answers(200, memoryView.schema)
  @Rejects('memory_disabled', 'memory_full', 'memory_flagged', 'usage_limit_exceeded')
  confirm(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('memoryId') memoryId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.choose(caller, agentId, memoryId, 'confirm', meta, reply);
  }

  @Post('save-for-me')
  @Requires('memory:write')
  @ApiOperation({ operationId: 'saveMemoryForMe', summary: 'Saves a proposed memory as a personal one.' })
  @Answers(200, memoryView.schema)
  @Rejects('memory_disabled', 'memory_full', 'memory_flagged', 'usage_limit_exceeded')
  saveForMe(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('memoryId') memoryId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.choose(caller, agentId, memoryId, 'save-for-me', meta, reply);
  }

  @Post('discard')
  @Requires('memory:write')
  @ApiOperation({ operationId: 'discardMemory', summary: 'Discards a proposed memory and erases its text.' })
  @Answers(204)
  async discard(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('memoryId') memoryId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const memoryCaller = await this.callers.of(caller, agentId);
    const { receipt } = await this.commands.execute(new ChooseMemory(memoryCaller, agentId, memoryId, 'discard', meta));
    return this.writes.answer(reply, receipt, { views: ['memories'] });
  }

  private async choose(
    caller: Caller,
    agentId: string,
    memoryId: string,
    choice: MemoryChoice,
    meta: CommandMeta,
    reply: FastifyReply,
  ) {
    const memoryCaller = await this.callers.of(caller, agentId);
    const chosen = await this.commands.execute(new ChooseMemory(memoryCaller, agentId, memoryId, choice, meta));
    return this.writes.answer(reply, chosen.receipt, {
      views: ['memories'],
      show: async () =>
        presentMemory(await this.queries.execute(new GetMemory(memoryCaller, agentId, chosen.memoryId)), memoryCaller),
    });
  }
}
