import type { Caller } from '@app/access';
import { Access } from '@app/access';
import { UpdateAgent, CreateAgent, DeleteAgent } from '@app/agents';
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
import { GrantAgent } from '@app/identity';
import { type CommandMeta, givenFields, type Receipt, stepOf, unlessLeft } from '@app/kernel';
import { CreatePersonalSpace, personalSpaceOf } from '@app/spaces';
import { GetAgent, ListAgents } from '@projections/agents';
import { Controller, Delete, Get, Param, Post, Put, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { agentUpdate, agentsQuery, agentView, newAgent, promptUpdate } from './agents-schemas';

const PATH = '/api/v1/core/agents';
const VIEWS = ['agents', 'agent-versions'];

@Documented('Agents')
@Controller(PATH)
export class AgentsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly access: Access,
    private readonly lists: Lists,
    private readonly writes: Writes,
  ) {}

  @Get()
  @Requires('agents:read')
  @ApiOperation({
    operationId: 'listAgents',
    summary: 'Lists the Agents in your Spaces that the key can use, newest first.',
  })
  @Answers(200, listOf(agentView.schema))
  @Reads('agents', 'space-members')
  async list(
    @CurrentCaller() caller: Caller,
    @QueryInput(agentsQuery) query: Input<typeof agentsQuery>,
  ): Promise<JsonText> {
    const asked = query.parse();
    const among = caller.allAgents ? undefined : caller.agentIds;
    const { rows, next } = await this.queries.execute(
      new ListAgents(caller.userId, asked.spaceId, among, this.lists.page('agents', caller, asked)),
    );
    // The views may be behind; membership is asked of the Spaces' streams.
    const allowed = new Map<string, boolean>();
    for (const { row } of rows)
      if (!allowed.has(row.spaceId))
        allowed.set(row.spaceId, (await this.access.roleIn(caller.userId, row.spaceId)) !== undefined);
    return this.lists.answer(
      'agents',
      caller,
      asked,
      rows.filter(({ row }) => allowed.get(row.spaceId) === true).map(({ row }) => agentView.inList(row)),
      next,
    );
  }

  @Post()
  @Requires('agents:write')
  @ApiOperation({
    operationId: 'createAgent',
    summary: "Creates an Agent in a Space, or in the caller's personal Space.",
  })
  @Answers(201, agentView.schema)
  @Rejects('not_found')
  async create(
    @CurrentCaller() caller: Caller,
    @BodyInput(newAgent) body: Input<typeof newAgent>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { spaceId, ...config } = body.parse();
    if (spaceId === undefined)
      await this.commands.execute(new CreatePersonalSpace(caller.userId, stepOf(meta, 'personal-space')));
    const place = await this.access.content(caller, spaceId ?? personalSpaceOf(caller.userId), 'editor');
    const ownerId = place.kind === 'personal' ? caller.userId : null;
    const { agentId, receipt } = await this.commands.execute(
      new CreateAgent({ spaceId: place.spaceId, ownerId }, config, meta),
    );
    const { keyId } = caller;
    const granted =
      keyId === undefined
        ? undefined
        : await unlessLeft(() => this.commands.execute(new GrantAgent(keyId, agentId, stepOf(meta, 'grant'))));
    // A key that may use it already was last changed before.
    const position = granted !== undefined && granted.position > receipt.position ? granted.position : receipt.position;
    return this.writes.answer(
      reply,
      { ...receipt, position },
      { views: [...VIEWS, 'api-keys'], show: () => this.show(agentId), location: `${PATH}/${agentId}` },
    );
  }

  @Get(':agentId')
  @Requires('agents:read')
  @ApiOperation({ operationId: 'getAgent', summary: 'Reads an Agent.' })
  @Answers(200, agentView.schema)
  @Reads('agents')
  async read(@CurrentCaller() caller: Caller, @Param('agentId') agentId: string): Promise<Tagged> {
    await this.access.agent(caller, agentId, 'use');
    const row = await this.queries.execute(new GetAgent(agentId));
    return tagged(agentView(row), row.revision);
  }

  @Put(':agentId')
  @Requires('agents:write')
  @ApiOperation({
    operationId: 'updateAgent',
    summary:
      'Updates an Agent. Absent fields do not change, also inside sampling and public. Making it public turns memory off.',
  })
  @Answers(200, agentView.schema)
  @Rejects('conflict', 'agent_not_granted')
  async update(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(agentUpdate) body: Input<typeof agentUpdate>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.agent(caller, agentId, 'edit');
    return this.shown(
      await this.commands.execute(new UpdateAgent(agentId, givenFields(body.parse()), meta)),
      agentId,
      reply,
    );
  }

  @Put(':agentId/prompt')
  @Requires('agents:write')
  @ApiOperation({ operationId: 'updateAgentPrompt', summary: 'Updates the system prompt of an Agent.' })
  @Answers(200, agentView.schema)
  @Rejects('agent_not_granted')
  async updatePrompt(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(promptUpdate) body: Input<typeof promptUpdate>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.agent(caller, agentId, 'edit');
    return this.shown(await this.commands.execute(new UpdateAgent(agentId, body.parse(), meta)), agentId, reply);
  }

  @Delete(':agentId')
  @Requires('agents:write')
  @ApiOperation({
    operationId: 'deleteAgent',
    summary:
      'Deletes an Agent with its documents, conversations and memories. The personal chat Agent cannot be deleted.',
  })
  @Answers(204)
  @Rejects('conflict', 'agent_not_granted')
  async delete(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.agent(caller, agentId, 'edit');
    return this.writes.answer(reply, await this.commands.execute(new DeleteAgent(agentId, meta)), { views: VIEWS });
  }

  private shown(receipt: Receipt, agentId: string, reply: FastifyReply) {
    return this.writes.answer(reply, receipt, { views: VIEWS, show: () => this.show(agentId) });
  }

  private async show(agentId: string): Promise<JsonText> {
    return agentView(await this.queries.execute(new GetAgent(agentId)));
  }
}
