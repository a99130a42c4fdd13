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
  Rejects,
  Requires,
  type Tagged,
  tagged,
  Writes,
} from '@app/http';
import { type CommandMeta, CONFIG, type Config, givenFields, type Receipt, reject } from '@app/kernel';
import { UpdateSpace, CreateSpace, DeleteSpace, type SpaceRole } from '@app/spaces';
import { GetSpace, ListSpaces } from '@projections/spaces';
import { Controller, Delete, Get, Inject, Param, Post, Put, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { newSpace, plainList, spaceUpdate, spaceView } from './spaces-schemas';

const PATH = '/api/v1/core/spaces';

@Documented('Spaces')
@Controller(PATH)
export class SpacesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly access: Access,
    private readonly lists: Lists,
    @Inject(CONFIG) private readonly config: Config,
    private readonly writes: Writes,
  ) {}

  @Get()
  @Requires('spaces:read')
  @ApiOperation({
    operationId: 'listSpaces',
    summary: "Lists the caller's Spaces, newest first; for admins, every team Space.",
  })
  @Answers(200, listOf(spaceView.schema))
  @Reads('spaces', 'space-members')
  async list(
    @CurrentCaller() caller: Caller,
    @QueryInput(plainList) query: Input<typeof plainList>,
  ): Promise<JsonText> {
    const asked = query.parse();
    const { rows, next } = await this.queries.execute(
      new ListSpaces(caller.userId, caller.role === 'admin', this.lists.page('spaces', caller, asked)),
    );
    const items: JsonText[] = [];
    for (const { key, row } of rows) {
      // The view may be behind; who may see a Space is asked of its stream.
      const role = await this.access.roleSeen(caller, key);
      if (role !== undefined) items.push(spaceView(row, { role }));
    }
    return this.lists.answer('spaces', caller, asked, items, next);
  }

  @Post()
  @Requires('spaces:write')
  @ApiOperation({ operationId: 'createSpace', summary: 'Creates a team Space with the caller as its owner.' })
  @Answers(201, spaceView.schema)
  // A repeat under its key, once the Space is gone for the caller.
  @Rejects('name_taken', 'not_found')
  async create(
    @CurrentCaller() caller: Caller,
    @BodyInput(newSpace) body: Input<typeof newSpace>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    if (!this.config.SPACE_CREATION_ROLES.includes(caller.role))
      return reject('forbidden', { reason: 'space_creation' });
    const { spaceId, receipt } = await this.commands.execute(
      new CreateSpace(caller.userId, givenFields(body.parse()), meta),
    );
    return this.writes.answer(reply, receipt, {
      views: ['spaces', 'space-members'],
      show: () => this.show(spaceId, 'owner'),
      location: `${PATH}/${spaceId}`,
    });
  }

  @Get(':spaceId')
  @Requires('spaces:read')
  @ApiOperation({ operationId: 'getSpace', summary: 'Reads a Space.' })
  @Answers(200, spaceView.schema)
  @Reads('spaces')
  async read(@CurrentCaller() caller: Caller, @Param('spaceId') spaceId: string): Promise<Tagged> {
    const { role } = await this.access.space(caller, spaceId, 'viewer');
    const row = await this.queries.execute(new GetSpace(spaceId));
    return tagged(spaceView(row, { role }), row.revision);
  }

  @Put(':spaceId')
  @Requires('spaces:write')
  @ApiOperation({ operationId: 'updateSpace', summary: 'Updates a Space. Absent fields do not change.' })
  @Answers(200, spaceView.schema)
  @Rejects('name_taken')
  async update(
    @CurrentCaller() caller: Caller,
    @Param('spaceId') spaceId: string,
    @BodyInput(spaceUpdate) body: Input<typeof spaceUpdate>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { role } = await this.access.space(caller, spaceId, 'owner');
    const receipt: Receipt = await this.commands.execute(new UpdateSpace(spaceId, givenFields(body.parse()), meta));
    return this.writes.answer(reply, receipt, { views: ['spaces'], show: () => this.show(spaceId, role) });
  }

  @Delete(':spaceId')
  @Requires('spaces:write')
  @ApiOperation({
    operationId: 'deleteSpace',
    summary: 'Deletes a team Space with everything in it.',
  })
  @Answers(204)
  @Rejects('conflict')
  async delete(
    @CurrentCaller() caller: Caller,
    @Param('spaceId') spaceId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.space(caller, spaceId, 'owner');
    return this.writes.answer(reply, await this.commands.execute(new DeleteSpace(spaceId, meta)), {
      views: ['spaces', 'space-members'],
    });
  }

  private async show(spaceId: string, role: SpaceRole): Promise<JsonText> {
    return spaceView(await this.queries.execute(new GetSpace(spaceId)), { role });
  }
}
