import type { Caller } from '@app/access';
import { Access } from '@app/access';
import {
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
  Requires,
  type Tagged,
  tagged,
  Writes,
} from '@app/http';
import { type CommandMeta, givenFields } from '@app/kernel';
import { CreatePrompt, UpdatePrompt, DeletePrompt } from '@app/spaces';
import { GetPrompt, ListPrompts } from '@projections/prompts';
import { Controller, Delete, Get, Param, Post, Put, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { newPrompt, plainList, promptUpdate, promptView } from './spaces-schemas';

/** The prompt library of a Space: for its members, also where the caller is an admin. */
@Documented('Prompts')
@Controller('/api/v1/core/spaces/:spaceId/prompts')
export class PromptsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly access: Access,
    private readonly lists: Lists,
    private readonly writes: Writes,
  ) {}

  @Get()
  @Requires('spaces:read')
  @ApiOperation({ operationId: 'listPrompts', summary: 'Lists the prompt library of a Space, newest first.' })
  @Answers(200, listOf(promptView.schema))
  @Reads('prompts')
  async list(
    @CurrentCaller() caller: Caller,
    @Param('spaceId') spaceId: string,
    @QueryInput(plainList) query: Input<typeof plainList>,
  ): Promise<JsonText> {
    await this.access.content(caller, spaceId, 'viewer');
    const asked = query.parse();
    const list = `prompts/${spaceId}`;
    const { rows, next } = await this.queries.execute(new ListPrompts(spaceId, this.lists.page(list, caller, asked)));
    return this.lists.answer(
      list,
      caller,
      asked,
      rows.map(({ row }) => promptView(row)),
      next,
    );
  }

  @Post()
  @Requires('spaces:write')
  @ApiOperation({ operationId: 'createPrompt', summary: 'Creates a prompt in the library of a Space.' })
  @Answers(201, promptView.schema)
  async create(
    @CurrentCaller() caller: Caller,
    @Param('spaceId') spaceId: string,
    @BodyInput(newPrompt) body: Input<typeof newPrompt>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.content(caller, spaceId, 'editor');
    const { promptId, receipt } = await this.commands.execute(new CreatePrompt(spaceId, body.parse(), meta));
    return this.writes.answer(reply, receipt, {
      views: ['prompts'],
      show: () => this.show(spaceId, promptId),
      location: `/api/v1/core/spaces/${spaceId}/prompts/${promptId}`,
    });
  }

  @Get(':promptId')
  @Requires('spaces:read')
  @ApiOperation({ operationId: 'getPrompt', summary: 'Reads a prompt.' })
  @Answers(200, promptView.schema)
  @Reads('prompts')
  async read(
    @CurrentCaller() caller: Caller,
    @Param('spaceId') spaceId: string,
    @Param('promptId') promptId: string,
  ): Promise<Tagged> {
    await this.access.content(caller, spaceId, 'viewer');
    const row = await this.queries.execute(new GetPrompt(spaceId, promptId));
    return tagged(promptView(row), row.revision);
  }

  @Put(':promptId')
  @Requires('spaces:write')
  @ApiOperation({ operationId: 'updatePrompt', summary: 'Updates a prompt. Absent fields do not change.' })
  @Answers(200, promptView.schema)
  async update(
    @CurrentCaller() caller: Caller,
    @Param('spaceId') spaceId: string,
    @Param('promptId') promptId: string,
    @BodyInput(promptUpdate) body: Input<typeof promptUpdate>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.prompt(caller, spaceId, promptId, 'editor');
    const receipt = await this.commands.execute(new UpdatePrompt(promptId, givenFields(body.parse()), meta));
    return this.writes.answer(reply, receipt, { views: ['prompts'], show: () => this.show(spaceId, promptId) });
  }

  @Delete(':promptId')
  @Requires('spaces:write')
  @ApiOperation({ operationId: 'deletePrompt', summary: 'Deletes a prompt and erases its text.' })
  @Answers(204)
  async delete(
    @CurrentCaller() caller: Caller,
    @Param('spaceId') spaceId: string,
    @Param('promptId') promptId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.prompt(caller, spaceId, promptId, 'editor');
    return this.writes.answer(reply, await this.commands.execute(new DeletePrompt(promptId, meta)), {
      views: ['prompts'],
    });
  }

  private async show(spaceId: string, promptId: string): Promise<JsonText> {
    return promptView(await this.queries.execute(new GetPrompt(spaceId, promptId)));
  }
}
