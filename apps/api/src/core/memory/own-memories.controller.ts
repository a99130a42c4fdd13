import type { Caller } from '@app/access';
import {
  Answers,
  CommandContext,
  CurrentCaller,
  Documented,
  type Input,
  type JsonText,
  listOf,
  Lists,
  QueryInput,
  Reads,
  Requires,
  Writes,
} from '@app/http';
import { type CommandMeta, givenFields, reject } from '@app/kernel';
import { ClearMemories } from '@app/memory';
import { ListMemories } from '@projections/memories';
import { Controller, Delete, Get, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { cleared } from './memories.controller';
import { memoriesQuery, memoryView, presentMemory } from './memories-schemas';

/** What all Agents remember of the caller, also those that they lost. */
@Documented('Memories')
@Controller('/api/v1/core/users/me/memories')
export class OwnMemoriesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly lists: Lists,
    private readonly writes: Writes,
  ) {}

  @Get()
  @Requires('memory:read')
  @ApiOperation({
    operationId: 'listOwnMemories',
    summary: 'Lists your personal memories with all Agents, and proposals that wait for you; newest first.',
  })
  @Answers(200, listOf(memoryView.schema))
  @Reads('memories')
  async list(
    @CurrentCaller() caller: Caller,
    @QueryInput(memoriesQuery) query: Input<typeof memoriesQuery>,
  ): Promise<JsonText> {
    assertAllAgents(caller);
    const { limit, cursor, ...filter } = query.parse();
    const asked = { limit, ...givenFields({ cursor, ...filter }) };
    const memoryCaller = { userId: caller.userId, access: 'none' } as const;
    const { rows, next } = await this.queries.execute(
      new ListMemories(memoryCaller, undefined, filter, this.lists.page('own-memories', caller, asked)),
    );
    return this.lists.answer(
      'own-memories',
      caller,
      asked,
      rows.map(({ row }) => presentMemory(row, memoryCaller)),
      next,
    );
  }

  @Delete()
  @Requires('memory:write')
  @ApiOperation({ operationId: 'clearOwnMemories', summary: 'Deletes your personal memories with all Agents.' })
  @Answers(204)
  async clear(
    @CurrentCaller() caller: Caller,
    @CommandContext({ hasEtag: false }) meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    assertAllAgents(caller);
    return cleared(
      this.writes,
      reply,
      await this.commands.execute(new ClearMemories(caller.userId, [{ of: 'user' }], meta)),
    );
  }
}

const assertAllAgents = ({ allAgents }: Caller): void => {
  if (!allAgents) reject('forbidden', { reason: 'not_all_agents' });
};
