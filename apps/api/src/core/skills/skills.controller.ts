import type { Caller } from '@app/access';
import {
  Accepts,
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
import { type CommandMeta, type Receipt } from '@app/kernel';
import { ActivateVersion, UpdateSkill, DeleteSkill, LoadableSkills, PublishSkill } from '@app/skills';
import { ListSkills, placeOfSkills } from '@projections/skills';
import { Controller, Delete, Get, Param, Post, Put, Req, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { listedRows } from './listed-rows';
import { partial } from './sent-skill';
import { placeAsked, SkillAccess, shownSkill } from './skill-access';
import { SkillCreation } from './skill-creation';
import {
  activation,
  AVAILABILITY,
  listedSkill,
  newSkill,
  skillUpdate,
  skillsQuery,
  skillView,
  uploadedSkill,
  warned,
} from './skills-schemas';

const PATH = '/api/v1/core/skills';
const VIEWS = ['skills'];

const skillList = listOf(listedSkill, {
  skillSetHash: z
    .string()
    .optional()
    .describe('With `agentId`: changes whenever the Skills that the Agent can load change.'),
});

/** Procedures that Agents follow: for a Space, with all its Agents, or for one Agent. */
@Documented('Skills')
@Controller(PATH)
export class SkillsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly access: SkillAccess,
    private readonly loadable: LoadableSkills,
    private readonly creation: SkillCreation,
    private readonly lists: Lists,
    private readonly writes: Writes,
  ) {}

  @Get()
  @Requires('skills:read')
  @ApiOperation({
    operationId: 'listSkills',
    summary:
      'Lists the Skills of a Space, or those that an Agent can load, newest first. One of spaceId and agentId is required.',
  })
  @Answers(200, skillList)
  @Rejects('not_found', 'forbidden', 'agent_not_granted')
  @Reads('skills')
  async list(
    @CurrentCaller() caller: Caller,
    @QueryInput(skillsQuery) query: Input<typeof skillsQuery>,
  ): Promise<JsonText> {
    const { spaceId, agentId, ...asked } = query.parse();
    const { source, status, q } = asked;
    const of = placeAsked(spaceId, agentId);
    const place = await this.access.place(caller, of, 'viewer');
    const places = [placeOfSkills(of), ...('agentId' in of ? [placeOfSkills({ spaceId: place.spaceId })] : [])];
    const list = `skills/${places[0]}`;
    // Of an Agent, what it can load; its editors may ask for drafts, which no other list has.
    const filter = { source, status, q, publishedOnly: !place.edits || ('agentId' in of && status !== 'draft') };
    const listed = await listedRows(this.loadable, place);
    const { rows, next } = await this.queries.execute(
      new ListSkills(places, filter, this.lists.page(list, caller, asked), listed),
    );
    const items = rows.map(({ key, row }) => {
      const shown = place.edits ? row : { ...row, hasDraft: false };
      const isInstalled = row.source === 'MARKETPLACE';
      return skillView(shown, {
        ...('agentId' in of && row.activeVersionId !== null && { availability: AVAILABILITY[row.source] ?? row.scope }),
        ...(isInstalled && { installationId: key }),
      });
    });
    const answer = this.lists.answer(list, caller, asked, items, next);
    if (!('agentId' in of)) return answer;
    const { skillSetHash } = await this.loadable.of({ agentId: of.agentId, spaceId: place.spaceId });
    return answer.with({ skillSetHash });
  }

  @Post()
  @Requires('skills:write')
  @ApiOperation({
    operationId: 'createSkill',
    summary:
      'Creates a Skill as a draft, or published at once: from JSON, or from a `.md`, `.zip` or `.skill` file as multipart with one `file` (fields before it).',
  })
  @Accepts({ files: uploadedSkill })
  @Answers(201, warned)
  @Rejects(
    'name_taken',
    'conflict',
    'not_found',
    'forbidden',
    'agent_not_granted',
    'invalid_archive',
    'invalid_frontmatter',
  )
  async create(
    @CurrentCaller() caller: Caller,
    @BodyInput(newSkill) body: Input<typeof newSkill>,
    @CommandContext() meta: CommandMeta,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { skillId, receipt, warnings } = request.isMultipart()
      ? await this.creation.fromFile(caller, request, meta)
      : await this.creation.inline(caller, body.parse(), meta);
    return this.writes.answer(reply, receipt, {
      views: VIEWS,
      show: async () => (await this.show(caller, skillId)).with({ warnings }),
      location: `${PATH}/${skillId}`,
    });
  }

  @Get(':skillId')
  @Requires('skills:read')
  @ApiOperation({ operationId: 'getSkill', summary: 'Reads a Skill.' })
  @Answers(200, skillView.schema)
  @Rejects('not_found')
  @Reads()
  async read(@CurrentCaller() caller: Caller, @Param('skillId') skillId: string): Promise<Tagged> {
    const seen = await this.access.read(caller, skillId);
    return tagged(skillView(shownSkill(seen)), seen.revision);
  }

  @Put(':skillId')
  @Requires('skills:write')
  @ApiOperation({
    operationId: 'updateSkill',
    summary:
      'Updates the name of a Skill, and its draft. The live version stays until the draft is published. Absent fields do not change.',
  })
  @Answers(200, skillView.schema)
  @Rejects('name_taken', 'conflict', 'not_found', 'forbidden')
  async update(
    @CurrentCaller() caller: Caller,
    @Param('skillId') skillId: string,
    @BodyInput(skillUpdate) body: Input<typeof skillUpdate>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.change(caller, skillId);
    const { name, ...content } = body.parse();
    const change = {
      ...(name === undefined ? {} : { name }),
      ...(Object.keys(content).length === 0 ? {} : { content: partial(content) }),
    };
    const receipt = await this.commands.execute(new UpdateSkill(skillId, change, caller.userId, meta));
    return this.written(reply, receipt, caller, skillId);
  }

  @Delete(':skillId')
  @Requires('skills:write')
  @ApiOperation({ operationId: 'deleteSkill', summary: 'Deletes a Skill permanently, with all its versions.' })
  @Answers(204)
  @Rejects('not_found', 'forbidden')
  async delete(
    @CurrentCaller() caller: Caller,
    @Param('skillId') skillId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.change(caller, skillId);
    return this.writes.answer(reply, await this.commands.execute(new DeleteSkill(skillId, meta)), { views: VIEWS });
  }

  @Post(':skillId/publish')
  @Requires('skills:write')
  @ApiOperation({
    operationId: 'publishSkill',
    summary: 'Publishes the draft of a Skill, with its files unchanged. Agents load it from their next turn on.',
  })
  @Answers(200, skillView.schema)
  @Rejects('conflict', 'not_found', 'forbidden')
  async publish(
    @CurrentCaller() caller: Caller,
    @Param('skillId') skillId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.change(caller, skillId);
    return this.written(reply, await this.commands.execute(new PublishSkill(skillId, meta)), caller, skillId);
  }

  @Post(':skillId/activate')
  @Requires('skills:write')
  @ApiOperation({
    operationId: 'activateSkillVersion',
    summary: 'Activates a published version of a Skill, with its files.',
  })
  @Answers(200, skillView.schema)
  @Rejects('not_found', 'forbidden')
  async activate(
    @CurrentCaller() caller: Caller,
    @Param('skillId') skillId: string,
    @BodyInput(activation) body: Input<typeof activation>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.change(caller, skillId);
    const { versionId } = body.parse();
    const receipt = await this.commands.execute(new ActivateVersion(skillId, versionId, meta));
    return this.written(reply, receipt, caller, skillId);
  }

  private written(reply: FastifyReply, receipt: Receipt, caller: Caller, skillId: string) {
    return this.writes.answer(reply, receipt, { views: VIEWS, show: () => this.show(caller, skillId) });
  }

  private async show(caller: Caller, skillId: string): Promise<JsonText> {
    return skillView(shownSkill(await this.access.read(caller, skillId)));
  }
}
