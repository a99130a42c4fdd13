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
  Lists,
  QueryInput,
  Reads,
  Rejects,
  Requires,
  type Tagged,
  tagged,
  Writes,
} from '@app/http';
import { type CommandMeta, CONFIG, type Config, Decisions, reject } from '@app/kernel';
import { ArchiveEntry, entryDecider, latestVersion, ListSkill } from '@app/skills';
import { ListEntries } from '@projections/skill-entries';
import { Controller, Delete, Get, Inject, Param, Post, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { entriesQuery, entryView, listing } from './marketplace-schemas';
import { SkillAccess, textOf } from './skill-access';

const PATH = '/api/v1/core/marketplace/skills';
const VIEWS = ['skill-entries'];

/** Copies of published Skills that every Space may install. */
@Documented('Skills')
@Controller(PATH)
export class MarketplaceController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly decisions: Decisions,
    private readonly access: SkillAccess,
    private readonly lists: Lists,
    @Inject(CONFIG) private readonly config: Config,
    private readonly writes: Writes,
  ) {}

  @Get()
  @Requires('skills:read')
  @ApiOperation({ operationId: 'listMarketplaceSkills', summary: 'Lists the Skills of the marketplace, newest first.' })
  @Answers(200, listOf(entryView.schema))
  @Rejects('forbidden')
  @Reads('skill-entries')
  async list(
    @CurrentCaller() caller: Caller,
    @QueryInput(entriesQuery) query: Input<typeof entriesQuery>,
  ): Promise<JsonText> {
    const asked = query.parse();
    if (asked.status === 'archived') this.assertRole(caller);
    const page = this.lists.page('marketplace', caller, asked);
    const { rows, next } = await this.queries.execute(new ListEntries(asked.status, asked.q, page));
    const items = rows.map(({ row }) => entryView(row));
    return this.lists.answer('marketplace', caller, asked, items, next);
  }

  @Post()
  @Requires('skills:write')
  @ApiOperation({
    operationId: 'listSkillInMarketplace',
    summary:
      'Copies the live version of a Skill to the marketplace, as a new entry or as the next version of its entry. If that has it already, returns the entry. For editors with a role in MARKETPLACE_ROLES.',
  })
  @Answers(200, entryView.schema)
  @Answers(201, entryView.schema)
  @Rejects('not_found', 'forbidden', 'conflict', 'findings_not_accepted')
  async add(
    @CurrentCaller() caller: Caller,
    @BodyInput(listing) body: Input<typeof listing>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { skillId, acceptFindings } = body.parse();
    await this.access.change(caller, skillId);
    this.assertRole(caller);
    const command = new ListSkill(skillId, acceptFindings, caller.userId, meta);
    const { entryId, receipt } = await this.commands.execute(command);
    void reply.status(receipt.eventIds.length > 0 ? 201 : 200);
    return this.writes.answer(reply, receipt, {
      views: VIEWS,
      show: async () => (await this.shown(entryId)).view,
      location: `${PATH}/${entryId}`,
    });
  }

  @Get(':entryId')
  @Requires('skills:read')
  @ApiOperation({
    operationId: 'getMarketplaceSkill',
    summary: 'Reads a Skill of the marketplace, even if it is archived.',
  })
  @Answers(200, entryView.schema)
  @Rejects('not_found')
  @Reads()
  async read(@Param('entryId') entryId: string): Promise<Tagged> {
    const { view, revision } = await this.shown(entryId);
    return tagged(view, revision);
  }

  @Delete(':entryId')
  @Requires('skills:write')
  @ApiOperation({
    operationId: 'archiveMarketplaceSkill',
    summary:
      'Archives a Skill of the marketplace: it is no longer listed and cannot be installed. Existing installations keep working.',
  })
  @Answers(204)
  @Rejects('not_found', 'forbidden')
  async archive(
    @CurrentCaller() caller: Caller,
    @Param('entryId') entryId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    this.assertRole(caller);
    await this.shown(entryId);
    const receipt = await this.commands.execute(new ArchiveEntry(entryId, 'Archive', caller.userId, meta));
    return this.writes.answer(reply, receipt, { views: VIEWS });
  }

  @Post(':entryId/restore')
  @Requires('skills:write')
  @ApiOperation({
    operationId: 'restoreMarketplaceSkill',
    summary: 'Restores an archived Skill of the marketplace, so that it is listed again.',
  })
  @Answers(200, entryView.schema)
  @Rejects('not_found', 'forbidden')
  async restore(
    @CurrentCaller() caller: Caller,
    @Param('entryId') entryId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    this.assertRole(caller);
    await this.shown(entryId);
    const receipt = await this.commands.execute(new ArchiveEntry(entryId, 'Restore', caller.userId, meta));
    return this.writes.answer(reply, receipt, { views: VIEWS, show: async () => (await this.shown(entryId)).view });
  }

  private assertRole({ role }: Caller): void {
    if (!this.config.MARKETPLACE_ROLES.includes(role)) reject('forbidden', { reason: 'marketplace' });
  }

  /** An entry as its stream says. Rejects `not_found`. */
  private async shown(entryId: string): Promise<{ readonly view: JsonText; readonly revision: number }> {
    const { state: entry, revision } = await this.decisions.recall(entryDecider, entryId);
    if (entry.status === 'absent' || entry.sourceId === null || entry.listedBy === null)
      return reject('not_found', { kind: 'skill', id: entryId });
    const { status, sourceId, listedBy: creatorId, createdAt, updatedAt } = entry;
    const { id: activeVersionId, description } = latestVersion(entry);
    const texts = { name: textOf(entry.name), slug: textOf(entry.slug), description: textOf(description) };
    const row = { id: entryId, ...texts, sourceId, creatorId, status, activeVersionId, createdAt, updatedAt, revision };
    return { view: entryView(row), revision };
  }
}
