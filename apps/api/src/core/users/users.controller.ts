import type { Caller } from '@app/access';
import { Access } from '@app/access';
import { CreatePersonalAgent } from '@app/agents';
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
import { UpdateUser, CreateUser, DeleteUser, ReactivateUser, SuspendUser } from '@app/identity';
import { type CommandMeta, givenFields, type Receipt, stepOf, unlessLeft } from '@app/kernel';
import { CreatePersonalSpace, personalSpaceOf } from '@app/spaces';
import { GetUser, ListUsers } from '@projections/users';
import { Controller, Delete, Get, Param, Post, Put, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { newUser, ownUpdate, userUpdate, usersQuery, userView } from './users-schemas';

const PATH = '/api/v1/core/users';

@Documented('Users')
@Controller(PATH)
export class UsersController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly access: Access,
    private readonly lists: Lists,
    private readonly writes: Writes,
  ) {}

  @Get()
  @Requires('users:write')
  @ApiOperation({ operationId: 'listUsers', summary: 'Lists users, newest first.' })
  @Answers(200, listOf(userView.schema))
  @Reads('users')
  async list(
    @CurrentCaller() caller: Caller,
    @QueryInput(usersQuery) query: Input<typeof usersQuery>,
  ): Promise<JsonText> {
    const asked = query.parse();
    const { rows, next } = await this.queries.execute(new ListUsers(this.lists.page('users', caller, asked)));
    return this.lists.answer(
      'users',
      caller,
      asked,
      rows.map(({ row }) => userView(row)),
      next,
    );
  }

  @Post()
  @Requires('users:write')
  @ApiOperation({
    operationId: 'createUser',
    summary: 'Creates a user, with a personal Space and chat Agent.',
  })
  @Answers(201, userView.schema)
  // A repeat under its key, once the user is deleted.
  @Rejects('name_taken', 'not_found')
  async create(
    @BodyInput(newUser) body: Input<typeof newUser>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { userId, receipt } = await this.commands.execute(new CreateUser(body.parse(), meta));
    // Policies see to both as well; made here, they are there when the answer is.
    const home = await unlessLeft(async () => {
      await this.commands.execute(new CreatePersonalSpace(userId, stepOf(meta, 'personal-space')));
      return this.commands.execute(
        new CreatePersonalAgent(userId, personalSpaceOf(userId), stepOf(meta, 'personal-agent')),
      );
    });
    const shown = { ...receipt, position: home?.position ?? receipt.position };
    return this.writes.answer(reply, shown, {
      views: ['users', 'space-members', 'spaces', 'agents'],
      show: () => this.show(userId),
      location: `${PATH}/${userId}`,
    });
  }

  @Get('me')
  @Requires('authenticated')
  @ApiOperation({ operationId: 'getCurrentUser', summary: 'Reads your own user.' })
  @Answers(200, userView.schema)
  @Reads('users')
  readSelf(@CurrentCaller() caller: Caller): Promise<Tagged> {
    return this.read(caller.userId);
  }

  @Put('me')
  @Requires('authenticated')
  @ApiOperation({ operationId: 'updateCurrentUser', summary: 'Updates your own name and language.' })
  @Answers(200, userView.schema)
  async updateSelf(
    @CurrentCaller() caller: Caller,
    @BodyInput(ownUpdate) body: Input<typeof ownUpdate>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    return this.shown(
      await this.commands.execute(new UpdateUser(caller.userId, givenFields(body.parse()), undefined, meta)),
      caller.userId,
      reply,
    );
  }

  @Get(':userId')
  @Requires('users:write')
  @ApiOperation({ operationId: 'getUser', summary: 'Reads a user.' })
  @Answers(200, userView.schema)
  @Reads('users')
  async read(@Param('userId') userId: string): Promise<Tagged> {
    const row = await this.queries.execute(new GetUser(userId)).catch(async (error: unknown) => {
      // The view has no user whose first event cannot be read. The log says whether there is one.
      await this.access.assertUser(userId);
      throw error;
    });
    return tagged(userView(row), row.revision);
  }

  @Put(':userId')
  @Requires('users:write')
  @ApiOperation({
    operationId: 'updateUser',
    summary: 'Updates a user. Absent fields do not change. The last admin cannot lose that role.',
  })
  @Answers(200, userView.schema)
  @Rejects('name_taken', 'conflict')
  async update(
    @Param('userId') userId: string,
    @BodyInput(userUpdate) body: Input<typeof userUpdate>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.assertUser(userId);
    const { role, ...fields } = givenFields(body.parse());
    return this.shown(await this.commands.execute(new UpdateUser(userId, fields, role, meta)), userId, reply);
  }

  @Delete(':userId')
  @Requires('users:write')
  @ApiOperation({
    operationId: 'deleteUser',
    summary: 'Deletes a user with their personal Space, and erases what only they own.',
  })
  @Answers(204)
  @Rejects('conflict')
  async delete(
    @Param('userId') userId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.assertUser(userId);
    return this.writes.answer(reply, await this.commands.execute(new DeleteUser(userId, meta)), {
      views: ['users', 'api-keys'],
    });
  }

  @Post(':userId/suspend')
  @Requires('users:write')
  @ApiOperation({
    operationId: 'suspendUser',
    summary: 'Suspends a user. All their credentials are rejected from the next request on.',
  })
  @Answers(200, userView.schema)
  @Rejects('conflict')
  async suspend(
    @Param('userId') userId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.assertUser(userId);
    return this.shown(await this.commands.execute(new SuspendUser(userId, meta)), userId, reply);
  }

  @Post(':userId/reactivate')
  @Requires('users:write')
  @ApiOperation({ operationId: 'reactivateUser', summary: 'Reactivates a suspended user.' })
  @Answers(200, userView.schema)
  async reactivate(
    @Param('userId') userId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.assertUser(userId);
    return this.shown(await this.commands.execute(new ReactivateUser(userId, meta)), userId, reply);
  }

  private shown(receipt: Receipt, userId: string, reply: FastifyReply) {
    return this.writes.answer(reply, receipt, { views: ['users'], show: () => this.show(userId) });
  }

  private async show(userId: string): Promise<JsonText> {
    return userView(await this.queries.execute(new GetUser(userId)));
  }
}
