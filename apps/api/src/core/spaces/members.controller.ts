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
  Writes,
} from '@app/http';
import type { CommandMeta } from '@app/kernel';
import { RemoveMember, SetMember } from '@app/spaces';
import { GetMember, ListMembers } from '@projections/space-members';
import { Controller, Delete, Get, Param, Put, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { memberChange, memberView, plainList } from './spaces-schemas';

const VIEWS = ['space-members', 'spaces'];

@Documented('Spaces')
@Controller('/api/v1/core/spaces/:spaceId/members')
export class MembersController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly access: Access,
    private readonly lists: Lists,
    private readonly writes: Writes,
  ) {}

  @Get()
  @Requires('spaces:read')
  @ApiOperation({ operationId: 'listSpaceMembers', summary: 'Lists the members of a Space, newest first.' })
  @Answers(200, listOf(memberView.schema))
  @Reads('space-members', 'users')
  async list(
    @CurrentCaller() caller: Caller,
    @Param('spaceId') spaceId: string,
    @QueryInput(plainList) query: Input<typeof plainList>,
  ): Promise<JsonText> {
    await this.access.space(caller, spaceId, 'viewer');
    const asked = query.parse();
    const list = `members/${spaceId}`;
    const { members, next } = await this.queries.execute(
      new ListMembers(spaceId, this.lists.page(list, caller, asked)),
    );
    return this.lists.answer(
      list,
      caller,
      asked,
      members.map((member) => memberView(member)),
      next,
    );
  }

  @Get(':userId')
  @Requires('spaces:read')
  @ApiOperation({ operationId: 'getSpaceMember', summary: 'Reads a member of a Space.' })
  @Answers(200, memberView.schema)
  @Reads('space-members', 'users')
  async read(
    @CurrentCaller() caller: Caller,
    @Param('spaceId') spaceId: string,
    @Param('userId') userId: string,
  ): Promise<JsonText> {
    await this.access.space(caller, spaceId, 'viewer');
    return this.show(spaceId, userId);
  }

  @Put(':userId')
  @Requires('spaces:write')
  @ApiOperation({
    operationId: 'setSpaceMember',
    summary: 'Adds a user to a team Space, or updates their role.',
  })
  @Answers(200, memberView.schema)
  @Rejects('last_owner', 'conflict')
  async set(
    @CurrentCaller() caller: Caller,
    @Param('spaceId') spaceId: string,
    @Param('userId') userId: string,
    @BodyInput(memberChange) body: Input<typeof memberChange>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.space(caller, spaceId, 'owner');
    await this.access.assertUser(userId);
    const { role } = body.parse();
    return this.writes.answer(reply, await this.commands.execute(new SetMember(spaceId, userId, role, meta)), {
      views: VIEWS,
      show: () => this.show(spaceId, userId),
    });
  }

  @Delete(':userId')
  @Requires('spaces:write')
  @ApiOperation({
    operationId: 'removeSpaceMember',
    summary: 'Removes a member from a Space. Members can remove themselves.',
  })
  @Answers(204)
  @Rejects('last_owner', 'conflict')
  async remove(
    @CurrentCaller() caller: Caller,
    @Param('spaceId') spaceId: string,
    @Param('userId') userId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.space(caller, spaceId, userId === caller.userId ? 'viewer' : 'owner');
    await this.access.assertMember(spaceId, userId);
    return this.writes.answer(reply, await this.commands.execute(new RemoveMember(spaceId, userId, meta)), {
      views: VIEWS,
    });
  }

  private async show(spaceId: string, userId: string): Promise<JsonText> {
    return memberView(await this.queries.execute(new GetMember(spaceId, userId)));
  }
}
