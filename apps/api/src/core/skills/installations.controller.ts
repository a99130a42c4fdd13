import type { Caller } from '@app/access';
import {
  Answers,
  BodyInput,
  CommandContext,
  CurrentCaller,
  Documented,
  type Input,
  type JsonText,
  listOf,
  listQuery,
  Lists,
  QueryInput,
  Reads,
  Rejects,
  Requires,
  type Tagged,
  tagged,
  Writes,
} from '@app/http';
import { type CommandMeta, Decisions, isDomainError, reject } from '@app/kernel';
import { entryDecider, InstallEntry, installationDecider, type PresentInstallation, UninstallEntry } from '@app/skills';
import { ListInstallations } from '@projections/skill-installations';
import { Controller, Delete, Get, Param, Post, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { installationView, newInstallation } from './marketplace-schemas';
import { SkillAccess } from './skill-access';

const PATH = '/api/v1/core/marketplace/skills/:entryId/installations';
const VIEWS = ['skill-installations', 'skills'];
const plainList = listQuery({});

/** Where Skills of the marketplace are installed: in Spaces, and for Agents. */
@Documented('Skills')
@Controller(PATH)
export class InstallationsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly decisions: Decisions,
    private readonly access: SkillAccess,
    private readonly lists: Lists,
    private readonly writes: Writes,
  ) {}

  @Get()
  @Requires('skills:read')
  @ApiOperation({
    operationId: 'listSkillInstallations',
    summary: 'Lists the installations of a Skill of the marketplace that you can see, newest first.',
  })
  @Answers(200, listOf(installationView.schema))
  @Rejects('not_found')
  @Reads('skill-installations')
  async list(
    @CurrentCaller() caller: Caller,
    @Param('entryId') entryId: string,
    @QueryInput(plainList) query: Input<typeof plainList>,
  ): Promise<JsonText> {
    await this.assertEntry(entryId);
    const asked = query.parse();
    const list = `skill-installations/${entryId}`;
    const page = this.lists.page(list, caller, asked);
    const { rows, next } = await this.queries.execute(
      new ListInstallations(entryId, (row) => this.isSeen(caller, row), page),
    );
    return this.lists.answer(
      list,
      caller,
      asked,
      rows.map(({ row }) => installationView(row)),
      next,
    );
  }

  @Post()
  @Requires('skills:write')
  @ApiOperation({
    operationId: 'installSkill',
    summary: 'Installs a Skill of the marketplace for a Space or one Agent. Agents can load it from the next turn on.',
  })
  @Answers(201, installationView.schema)
  @Rejects('name_taken', 'conflict', 'not_found', 'forbidden', 'agent_not_granted')
  async install(
    @CurrentCaller() caller: Caller,
    @Param('entryId') entryId: string,
    @BodyInput(newInstallation) body: Input<typeof newInstallation>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.assertEntry(entryId);
    const { spaceId: asked, agentId: ofAgent, versionId = null } = body.parse();
    const of = asked === undefined ? { agentId: ofAgent as string } : { spaceId: asked };
    const { scope, spaceId, agentId } = await this.access.place(caller, of, 'editor');
    const command = new InstallEntry({ entryId, versionId, scope, spaceId, agentId }, caller.userId, meta);
    const { installationId, receipt } = await this.commands.execute(command);
    return this.writes.answer(reply, receipt, {
      views: VIEWS,
      show: async () => installationView(await this.present(installationId)),
      location: `${PATH.replace(':entryId', entryId)}/${installationId}`,
    });
  }

  @Get(':installationId')
  @Requires('skills:read')
  @ApiOperation({
    operationId: 'getSkillInstallation',
    summary: 'Reads an installation and its pinned version.',
  })
  @Answers(200, installationView.schema)
  @Rejects('not_found')
  @Reads()
  async read(
    @CurrentCaller() caller: Caller,
    @Param('entryId') entryId: string,
    @Param('installationId') installationId: string,
  ): Promise<Tagged> {
    const installation = await this.seen(caller, entryId, installationId);
    return tagged(installationView(installation), installation.revision);
  }

  @Delete(':installationId')
  @Requires('skills:write')
  @ApiOperation({ operationId: 'uninstallSkill', summary: 'Uninstalls a Skill and frees its name.' })
  @Answers(204)
  @Rejects('not_found', 'forbidden')
  async uninstall(
    @CurrentCaller() caller: Caller,
    @Param('entryId') entryId: string,
    @Param('installationId') installationId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const installation = await this.seen(caller, entryId, installationId);
    await this.access.place(caller, placeOf(installation), 'editor');
    return this.writes.answer(reply, await this.commands.execute(new UninstallEntry(installationId, meta)), {
      views: VIEWS,
    });
  }

  private async assertEntry(entryId: string): Promise<void> {
    const { state: entry } = await this.decisions.recall(entryDecider, entryId);
    if (entry.status === 'absent' || entry.sourceId === null) reject('not_found', { kind: 'skill', id: entryId });
  }

  private async isSeen(caller: Caller, at: Place): Promise<boolean> {
    try {
      await this.access.place(caller, placeOf(at), 'viewer');
      return true;
    } catch (error) {
      if (isDomainError(error)) return false;
      throw error;
    }
  }

  /** One of the entry, in a place that the caller may see. Rejects `not_found` for others. */
  private async seen(caller: Caller, entryId: string, installationId: string): Promise<Installation> {
    await this.assertEntry(entryId);
    const installation = await this.present(installationId);
    return installation.entryId === entryId && (await this.isSeen(caller, installation))
      ? installation
      : reject('not_found', { kind: 'installation', id: installationId });
  }

  private async present(id: string): Promise<Installation> {
    const { state, revision } = await this.decisions.recall(installationDecider, id);
    return state.status === 'present' ? { id, ...state, revision } : reject('not_found', { kind: 'installation', id });
  }
}

type Installation = PresentInstallation & { readonly id: string; readonly revision: number };

interface Place {
  readonly spaceId: string;
  readonly agentId: string | null;
}

const placeOf = ({ agentId, spaceId }: Place) => (agentId === null ? { spaceId } : { agentId });
