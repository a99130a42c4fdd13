import type { Caller } from '@app/access';
import { Access } from '@app/access';
import { RestoreAgent } from '@app/agents';
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
  Rejects,
  Requires,
  Writes,
} from '@app/http';
import { type CommandMeta, reject } from '@app/kernel';
import { GetAgentVersion, ListAgentVersions } from '@projections/agent-versions';
import { GetAgent } from '@projections/agents';
import { Controller, Get, Param, Post, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { agentView, versionsQuery, versionView } from './agents-schemas';

@Documented('Agents')
@Controller('/api/v1/core/agents/:agentId/versions')
export class AgentVersionsController {
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
    operationId: 'listAgentVersions',
    summary: "Lists the versions of an Agent's configuration, newest first, with what each changed.",
  })
  @Answers(200, listOf(versionView.schema))
  @Rejects('agent_not_granted')
  @Reads('agent-versions')
  async list(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @QueryInput(versionsQuery) query: Input<typeof versionsQuery>,
  ): Promise<JsonText> {
    await this.access.agent(caller, agentId, 'use');
    const asked = query.parse();
    const list = `agent-versions/${agentId}`;
    const { rows, next } = await this.queries.execute(
      new ListAgentVersions(agentId, this.lists.page(list, caller, asked)),
    );
    return this.lists.answer(
      list,
      caller,
      asked,
      rows.map(({ row }) => versionView.inList(row)),
      next,
    );
  }

  @Get(':revision')
  @Requires('agents:read')
  @ApiOperation({ operationId: 'getAgentVersion', summary: 'Reads what a revision of an Agent changed.' })
  @Answers(200, versionView.schema)
  @Rejects('agent_not_granted')
  @Reads('agent-versions')
  async read(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('revision') revision: string,
  ): Promise<JsonText> {
    await this.access.agent(caller, agentId, 'use');
    return versionView(await this.queries.execute(new GetAgentVersion(agentId, revision)));
  }

  @Post(':revision/restore')
  @Requires('agents:write')
  @ApiOperation({
    operationId: 'restoreAgentVersion',
    summary: "Restores an Agent's configuration from an earlier revision, as a new revision.",
  })
  @Answers(200, agentView.schema)
  @Rejects('conflict', 'agent_not_granted')
  async restore(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('revision') revision: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.agent(caller, agentId, 'edit');
    if (!/^(?:0|[1-9]\d{0,14})$/.test(revision)) return reject('not_found', { kind: 'version', id: revision });
    const receipt = await this.commands.execute(new RestoreAgent(agentId, Number(revision), meta));
    return this.writes.answer(reply, receipt, {
      views: ['agents', 'agent-versions'],
      show: async () => agentView(await this.queries.execute(new GetAgent(agentId))),
    });
  }
}
