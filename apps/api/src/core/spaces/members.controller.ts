import type { Caller } from '@app/access';
import { Access } from '@app/access';
import type { CommandMeta } from '@app/kernel';
import { RemoveMember, SetMember } from '@app/spaces';
import { GetMember, ListMembers } from '@projections/space-members';
import { Body, Controller, Delete, Get, Param, Put, Query, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import type { FastifyReply } from 'fastify';
import {
  Accepts,
  Answers,
  CommandContext,
  CurrentCaller,
  input,
  type JsonText,
  listOf,
  Lists,
  Parameters,
  query,
  Reads,
  Refuses,
  Requires,
  Summary,
  written,
} from '../../http';
import { memberChange, memberView, plainList } from './spaces-schemas';

const VIEWS = ['space-members', 'spaces'];

@Controller('/api/v1/core/spaces/:spaceId/members')
export class MembersController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly access: Access,
    private readonly lists: Lists,
  ) {}

  @Get()
  @Requires('spaces:read')
  @Summary('Lists the members of a Space, newest first.')
  @Parameters(plainList)
  @Answers(200, listOf(memberView.schema))
  @Reads('space-members', 'users')
  async list(
    @CurrentCaller() caller: Caller,
    @Param('spaceId') spaceId: string,
    @Query() raw: unknown,
  ): Promise<JsonText> {
    await this.access.space(caller, spaceId, 'viewer');
    const asked = query(plainList, raw);
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
  @Summary('Reads a member of a Space.')
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
  @Summary('Makes a user a member of a team Space, or gives them another role.')
  @Accepts(memberChange)
  @Answers(200, memberView.schema)
  @Refuses('last_owner', 'conflict')
  async set(
    @CurrentCaller() caller: Caller,
    @Param('spaceId') spaceId: string,
    @Param('userId') userId: string,
    @Body() body: unknown,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.space(caller, spaceId, 'owner');
    await this.access.demandUser(userId);
    const { role } = input(memberChange, body);
    return written(reply, await this.commands.execute(new SetMember(spaceId, userId, role, meta)), {
      views: VIEWS,
      show: () => this.show(spaceId, userId),
    });
  }

  @Delete(':userId')
  @Requires('spaces:write')
  @Summary('Ends a membership; everyone may end their own.')
  @Answers(204)
  @Refuses('last_owner', 'conflict')
  async remove(
    @CurrentCaller() caller: Caller,
    @Param('spaceId') spaceId: string,
    @Param('userId') userId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.space(caller, spaceId, userId === caller.userId ? 'viewer' : 'owner');
    await this.access.demandMember(spaceId, userId);
    return written(reply, await this.commands.execute(new RemoveMember(spaceId, userId, meta)), { views: VIEWS });
  }

  private async show(spaceId: string, userId: string): Promise<JsonText> {
    return memberView(await this.queries.execute(new GetMember(spaceId, userId)));
  }
}
