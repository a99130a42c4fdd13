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
import { type CommandMeta, givenFields, type Receipt } from '@app/kernel';
import { AttachTag, CreateTag, DeleteTag, DetachTag, KnownTags, UpdateTag } from '@app/knowledge';
import { GetTag, ListTags } from '@projections/tags';
import { Controller, Delete, Get, Param, Post, Put, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { KnowledgeAccess } from './document-access';
import { DocumentPresenter } from './document-presenter';
import { writtenDocument } from './documents-schemas';
import { newTag, tagUpdate, tagsQuery, tagView } from './tags-schemas';

/** Tags of the Space that an Agent is in. */
@Documented('Tags')
@Controller('/api/v1/core/knowledge/:agentId')
export class TagsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly access: Access,
    private readonly knowledge: KnowledgeAccess,
    private readonly known: KnownTags,
    private readonly presenter: DocumentPresenter,
    private readonly lists: Lists,
    private readonly writes: Writes,
  ) {}

  @Get('tags')
  @Requires('knowledge:read')
  @ApiOperation({ operationId: 'listTags', summary: "Lists the tags of the Agent's Space, newest first." })
  @Answers(200, listOf(tagView.schema))
  @Reads('tags')
  async list(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @QueryInput(tagsQuery) query: Input<typeof tagsQuery>,
  ): Promise<JsonText> {
    const { spaceId } = await this.access.agent(caller, agentId, 'use');
    const asked = query.parse();
    const list = `tags/${spaceId}`;
    const { rows, next } = await this.queries.execute(new ListTags(spaceId, this.lists.page(list, caller, asked)));
    return this.lists.answer(
      list,
      caller,
      asked,
      rows.map(({ row }) => tagView(row)),
      next,
    );
  }

  @Post('tags')
  @Requires('knowledge:write')
  @ApiOperation({ operationId: 'createTag', summary: 'Creates a tag. Its name is unique in the Space.' })
  @Answers(201, tagView.schema)
  @Rejects('name_taken')
  async create(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(newTag) body: Input<typeof newTag>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { spaceId } = await this.access.agent(caller, agentId, 'edit');
    const { tagId, receipt } = await this.commands.execute(new CreateTag(spaceId, body.parse(), meta));
    return this.writes.answer(reply, receipt, {
      views: ['tags'],
      show: () => this.show(spaceId, tagId),
      location: `/api/v1/core/knowledge/${agentId}/tags/${tagId}`,
    });
  }

  @Get('tags/:tagId')
  @Requires('knowledge:read')
  @ApiOperation({ operationId: 'getTag', summary: 'Reads a tag.' })
  @Answers(200, tagView.schema)
  @Reads('tags')
  async read(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('tagId') tagId: string,
  ): Promise<Tagged> {
    const { spaceId } = await this.access.agent(caller, agentId, 'use');
    const row = await this.queries.execute(new GetTag(spaceId, tagId));
    return tagged(tagView(row), row.revision);
  }

  @Put('tags/:tagId')
  @Requires('knowledge:write')
  @ApiOperation({ operationId: 'updateTag', summary: 'Updates the name or colour of a tag.' })
  @Answers(200, tagView.schema)
  @Rejects('name_taken')
  async update(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('tagId') tagId: string,
    @BodyInput(tagUpdate) body: Input<typeof tagUpdate>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { spaceId } = await this.access.agent(caller, agentId, 'edit');
    await this.known.assert(spaceId, [tagId]);
    const receipt = await this.commands.execute(new UpdateTag(spaceId, tagId, givenFields(body.parse()), meta));
    return this.writes.answer(reply, receipt, { views: ['tags'], show: () => this.show(spaceId, tagId) });
  }

  @Delete('tags/:tagId')
  @Requires('knowledge:write')
  @ApiOperation({ operationId: 'deleteTag', summary: 'Deletes a tag and removes it from its documents.' })
  @Answers(204)
  async delete(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('tagId') tagId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { spaceId } = await this.access.agent(caller, agentId, 'edit');
    await this.known.assert(spaceId, [tagId]);
    return this.writes.answer(reply, await this.commands.execute(new DeleteTag(spaceId, tagId, meta)), {
      views: ['tags'],
    });
  }

  @Post('documents/:documentId/tags/:tagId')
  @Requires('knowledge:write')
  @ApiOperation({ operationId: 'attachTag', summary: 'Attaches a tag to a document.' })
  @Answers(200, writtenDocument)
  async attach(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('documentId') documentId: string,
    @Param('tagId') tagId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { spaceId } = await this.knowledge.change(caller, agentId, documentId);
    await this.known.assert(spaceId, [tagId]);
    const receipt: Receipt = await this.commands.execute(new AttachTag(documentId, tagId, meta));
    const show = async () => {
      const { document, ...agent } = await this.knowledge.read(caller, agentId, documentId);
      const json = await this.presenter.one(agent, document);
      return receipt.eventIds.length === 0 ? json.with({ unchanged: true }) : json;
    };
    return this.writes.answer(reply, receipt, { views: ['documents', 'tags', 'passages'], show });
  }

  @Delete('documents/:documentId/tags/:tagId')
  @Requires('knowledge:write')
  @ApiOperation({ operationId: 'detachTag', summary: 'Detaches a tag from a document.' })
  @Answers(204)
  async detach(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('documentId') documentId: string,
    @Param('tagId') tagId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { spaceId } = await this.knowledge.change(caller, agentId, documentId);
    await this.known.assert(spaceId, [tagId]);
    return this.writes.answer(reply, await this.commands.execute(new DetachTag(documentId, tagId, meta)), {
      views: ['documents', 'tags', 'passages'],
    });
  }

  private async show(spaceId: string, tagId: string): Promise<JsonText> {
    return tagView(await this.queries.execute(new GetTag(spaceId, tagId)));
  }
}
