import type { Caller } from '@app/access';
import {
  Accepts,
  Answers,
  BodyInput,
  CommandContext,
  CurrentCaller,
  Documented,
  type Input,
  type JsonText,
  listOf,
  Lists,
  QueryInput,
  Reads,
  Rejects,
  Requires,
  type Tagged,
  tagged,
  Writes,
} from '@app/http';
import { type CommandMeta, Decisions, givenFields, type Receipt, reject } from '@app/kernel';
import {
  ClearMemories,
  type Cleared,
  CreateMemory,
  DeleteMemory,
  type MemoryCaller,
  UpdateMemory,
  visibleMemory,
} from '@app/memory';
import { GetMemory, ListMemories, type MemoryRow } from '@projections/memories';
import { Controller, Delete, Get, Param, Post, Put, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { clearedQuery, memoriesQuery, memoryUpdate, memoryView, newMemory, presentMemory } from './memories-schemas';
import { MemoryCallers } from './memory-callers';

/** What an Agent remembers: the caller's own, and what it shares with all who use it. */
@Documented('Memories')
@Controller('/api/v1/core/memory/:agentId/memories')
export class MemoriesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly decisions: Decisions,
    private readonly callers: MemoryCallers,
    private readonly lists: Lists,
    private readonly writes: Writes,
  ) {}

  @Get()
  @Requires('memory:read')
  @ApiOperation({
    operationId: 'listMemories',
    summary:
      'Lists your personal memories with an Agent, its shared memories, and proposals that wait for you; newest first.',
  })
  @Answers(200, listOf(memoryView.schema))
  @Reads('memories')
  async list(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @QueryInput(memoriesQuery) query: Input<typeof memoriesQuery>,
  ): Promise<JsonText> {
    const memoryCaller = await this.callers.of(caller, agentId);
    const { limit, cursor, ...filter } = query.parse();
    const asked = { limit, ...givenFields({ cursor, ...filter }) };
    const list = `memories/${agentId}`;
    const { rows, next } = await this.queries.execute(
      new ListMemories(memoryCaller, agentId, filter, this.lists.page(list, caller, asked)),
    );
    return this.lists.answer(
      list,
      caller,
      asked,
      rows.map(({ row }) => presentMemory(row, memoryCaller)),
      next,
    );
  }

  @Post()
  @Requires('memory:write')
  @ApiOperation({
    operationId: 'createMemory',
    summary:
      'Creates a personal memory, or proposes a shared one for you to confirm. If an equal one exists, returns that.',
  })
  @Answers(200, memoryView.schema)
  @Answers(201, memoryView.schema)
  @Rejects('memory_disabled', 'memory_full', 'memory_flagged', 'usage_limit_exceeded')
  async create(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(newMemory) body: Input<typeof newMemory>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { spaceId, ...memoryCaller } = await this.callers.ofUser(caller, agentId);
    const { text, kind, replaces } = body.parse();
    const memory = {
      agentId,
      spaceId,
      text,
      kind,
      origin: 'user',
      source: null,
      ...givenFields({ replaces }),
    } as const;
    const { memoryId, isNew, receipt } = await this.commands.execute(
      new CreateMemory(memoryCaller, memory, kind === 'personal' ? 'saved' : 'proposed', meta),
    );
    void reply.status(isNew ? 201 : 200);
    return this.writes.answer(reply, receipt, {
      views: ['memories'],
      show: () => this.show(memoryCaller, agentId, memoryId),
      location: `/api/v1/core/memory/${agentId}/memories/${memoryId}`,
    });
  }

  @Delete()
  @Requires('memory:write')
  @ApiOperation({
    operationId: 'clearMemories',
    summary:
      'Deletes all your personal memories with an Agent. With `kind=shared`, deletes its shared memories, which only editors can.',
  })
  @Answers(204)
  async clear(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @QueryInput(clearedQuery) query: Input<typeof clearedQuery>,
    @CommandContext({ hasEtag: false }) meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const memoryCaller = await this.callers.of(caller, agentId);
    const { kind, status } = query.parse();
    const isShared = kind === 'shared' && status !== 'proposed';
    if (isShared && memoryCaller.access !== 'edit') reject('forbidden', { role: 'editor', kind: 'agent', id: agentId });
    const { userId } = memoryCaller;
    const own = { of: 'user', agentId, kind, status: isShared ? 'proposed' : status } as const;
    const asked: readonly Cleared[] = [
      ...(isShared && status === 'saved' ? [] : [own]),
      ...(isShared ? [{ of: 'everybody', agentId } as const] : []),
    ];
    return cleared(this.writes, reply, await this.commands.execute(new ClearMemories(userId, asked, meta)));
  }

  @Get(':memoryId')
  @Requires('memory:read')
  @ApiOperation({ operationId: 'getMemory', summary: 'Reads a memory.' })
  @Answers(200, memoryView.schema)
  @Reads('memories')
  async read(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('memoryId') memoryId: string,
  ): Promise<Tagged> {
    const memoryCaller = await this.callers.of(caller, agentId);
    const row: MemoryRow = await this.queries.execute(new GetMemory(memoryCaller, agentId, memoryId));
    return tagged(presentMemory(row, memoryCaller), row.revision);
  }

  @Put(':memoryId')
  @Requires('memory:write')
  @ApiOperation({ operationId: 'updateMemory', summary: 'Updates the text of a saved memory.' })
  @Accepts({ ofLostAgents: true })
  @Answers(200, memoryView.schema)
  @Rejects('memory_disabled', 'memory_flagged', 'usage_limit_exceeded')
  async update(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('memoryId') memoryId: string,
    @BodyInput(memoryUpdate) body: Input<typeof memoryUpdate>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const memoryCaller = await this.callers.of(caller, agentId);
    // By the log: the view may not show yet what was just saved.
    await visibleMemory(this.decisions, agentId, memoryId, memoryCaller);
    const { text } = body.parse();
    const receipt = await this.commands.execute(new UpdateMemory(memoryCaller, agentId, memoryId, text, meta));
    return this.writes.answer(reply, receipt, {
      views: ['memories'],
      show: () => this.show(memoryCaller, agentId, memoryId),
    });
  }

  @Delete(':memoryId')
  @Requires('memory:write')
  @ApiOperation({ operationId: 'deleteMemory', summary: 'Deletes a memory permanently and erases its text.' })
  @Answers(204)
  async delete(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('memoryId') memoryId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const memoryCaller = await this.callers.of(caller, agentId);
    const receipt = await this.commands.execute(new DeleteMemory(memoryCaller, agentId, memoryId, meta));
    return this.writes.answer(reply, receipt, { views: ['memories'] });
  }

  private async show(memoryCaller: MemoryCaller, agentId: string, memoryId: string): Promise<JsonText> {
    return presentMemory(await this.queries.execute(new GetMemory(memoryCaller, agentId, memoryId)), memoryCaller);
  }
}

/** Answers that memories were deleted, once none of them is listed. */
export const cleared = async (writes: Writes, reply: FastifyReply, last: Receipt | undefined): Promise<void> => {
  if (last === undefined) return;
  await writes.answer(reply, last, { views: ['memories'] });
  // It would be that of one memory among them.
  reply.removeHeader('etag');
};
