import { Access, type Caller } from '@app/access';
import { type CommandMeta, givenFields, type Receipt } from '@app/kernel';
import {
  addedDocumentId,
  CreateDocuments,
  Bodies,
  DeleteDocument,
  KnownTags,
  ReprocessDocument,
  type SearchingAgent,
  UpdateDocument,
} from '@app/knowledge';
import { GetDocument, ListDocuments, SameName } from '@projections/documents';
import { Controller, Delete, Get, Param, Post, Put, Req, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  Accepts,
  Answers,
  BodyInput,
  CommandContext,
  CurrentCaller,
  Documented,
  type Input,
  JsonText,
  LARGE_JSON_LIMIT,
  listOf,
  Lists,
  QueryInput,
  Reads,
  Requires,
  tagged,
  Writes,
  Uploads,
} from '@app/http';
import { type AskedDocument, KnowledgeAccess } from './document-access';
import { DocumentPresenter } from './document-presenter';
import {
  createdDocuments,
  documentUpdate,
  documentsQuery,
  type NewDocument,
  newInlineDocument,
  reprocessing,
  replacedContent,
  shownDocument,
  uploadedDocuments,
  writtenDocument,
} from './documents-schemas';
import { SentChanges } from './sent-changes';
import { documentOf, placeOf, readUpload } from './upload-files';

const PATH = '/api/v1/core/knowledge/:agentId/documents';
const VIEWS = ['documents', 'tags'];
const LARGE = { limit: LARGE_JSON_LIMIT };

type Adding = Readonly<{ caller: Caller; agentId: string; meta: CommandMeta }>;

@Documented('Documents')
@Controller(PATH)
export class DocumentsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly access: Access,
    private readonly knowledge: KnowledgeAccess,
    private readonly tags: KnownTags,
    private readonly bodies: Bodies,
    private readonly changes: SentChanges,
    private readonly presenter: DocumentPresenter,
    private readonly lists: Lists,
    private readonly writes: Writes,
    private readonly uploads: Uploads,
  ) {}

  @Get()
  @Requires('knowledge:read')
  @ApiOperation({
    operationId: 'listDocuments',
    summary: "Lists the documents that an Agent searches (its own, its Space's and global ones), newest first.",
  })
  @Answers(200, listOf(shownDocument))
  @Reads('documents', 'tags')
  async list(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @QueryInput(documentsQuery) query: Input<typeof documentsQuery>,
  ): Promise<JsonText> {
    const agent = await this.access.agent(caller, agentId, 'use');
    const { limit, cursor, ...filter } = query.parse();
    const asked = { limit, ...givenFields({ cursor, ...filter }) };
    const list = `documents/${agentId}`;
    const page = this.lists.page(list, caller, asked);
    const hasForeignTag =
      filter.tagId !== undefined && (await this.tags.ofOthers(agent.spaceId, [filter.tagId])).length > 0;
    if (hasForeignTag) return this.lists.answer(list, caller, asked, [], null);
    const { rows, next } = await this.queries.execute(new ListDocuments(agent, filter, page));
    return this.lists.answer(
      list,
      caller,
      asked,
      await this.presenter.show(
        agent,
        rows.map(({ row }) => row),
      ),
      next,
    );
  }

  @Post()
  @Requires('knowledge:write')
  @ApiOperation({
    operationId: 'createDocument',
    summary:
      'Creates documents: one as JSON, or one or more files as multipart (fields before files), answered as `{ items }`. Ingestion starts afterwards. `sameName` lists existing documents with the same name.',
  })
  @Accepts({ ...LARGE, files: uploadedDocuments })
  @Answers(202, createdDocuments)
  async create(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(newInlineDocument) body: Input<typeof newInlineDocument>,
    @CommandContext({ hasEtag: false }) meta: CommandMeta,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.knowledge.writeSomewhere(caller, agentId);
    const by = { caller, agentId, meta };
    return request.isMultipart() ? this.addFiles(by, request, reply) : this.addInline(by, body.parse(), reply);
  }

  @Get(':documentId')
  @Requires('knowledge:read')
  @ApiOperation({ operationId: 'getDocument', summary: 'Reads a document.' })
  @Answers(200, shownDocument)
  @Reads('documents', 'tags')
  async read(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('documentId') documentId: string,
  ) {
    const { document, ...agent } = await this.knowledge.read(caller, agentId, documentId);
    return tagged(await this.presenter.one(agent, document), document.revision);
  }

  @Put(':documentId')
  @Requires('knowledge:write')
  @ApiOperation({
    operationId: 'updateDocument',
    summary:
      'Updates the name, tags, content or `enabled` of a document: as JSON, or as multipart with one `file` (fields before it). After new content, the document is not searched until it is Ready again.',
  })
  @Accepts({ ...LARGE, files: replacedContent })
  @Answers(200, writtenDocument)
  async update(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('documentId') documentId: string,
    @BodyInput(documentUpdate) body: Input<typeof documentUpdate>,
    @CommandContext() meta: CommandMeta,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const found = await this.knowledge.change(caller, agentId, documentId);
    request.mayGoOn = (now) => this.knowledge.change(now, agentId, documentId);
    const update = await this.changes.of(found, request, body);
    const receipt = await this.commands.execute(new UpdateDocument(documentId, update, meta));
    return this.shown(receipt, { caller, agentId, documentId }, reply);
  }

  @Delete(':documentId')
  @Requires('knowledge:write')
  @ApiOperation({
    operationId: 'deleteDocument',
    summary: 'Deletes a document permanently, with everything derived from it.',
  })
  @Answers(204)
  async delete(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('documentId') documentId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.knowledge.change(caller, agentId, documentId);
    return this.writes.answer(reply, await this.commands.execute(new DeleteDocument(documentId, meta)), {
      views: [...VIEWS, 'passages'],
    });
  }

  @Post(':documentId/reprocess')
  @Requires('knowledge:write')
  @ApiOperation({
    operationId: 'reprocessDocument',
    summary: 'Ingests a document again; without `force`, only if that could change anything.',
  })
  @Accepts({ required: false })
  @Answers(202, writtenDocument)
  async reprocess(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('documentId') documentId: string,
    @BodyInput(reprocessing) body: Input<typeof reprocessing>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.knowledge.change(caller, agentId, documentId);
    const { force } = body.parse({});
    const receipt = await this.commands.execute(new ReprocessDocument(documentId, force, meta));
    return this.shown(receipt, { caller, agentId, documentId }, reply);
  }

  private async addInline({ caller, agentId, meta }: Adding, body: NewDocument, reply: FastifyReply) {
    const { content, scope, ...given } = body;
    const agent = await this.knowledge.write(caller, agentId, scope);
    await this.tags.assert(agent.spaceId, given.tagIds);
    const documentId = addedDocumentId(meta, 0);
    const stored = await this.bodies.store(documentId, scope === 'global' ? null : agent.spaceId, Buffer.from(content));
    const receipt = await this.commands.execute(
      new CreateDocuments([{ ...placeOf(scope, agent), ...given, provider: 'inline', body: stored }], meta),
    );
    const location = `/api/v1/core/knowledge/${agentId}/documents/${documentId}`;
    const show = async () => (await this.created(agent, [documentId]))[0] as JsonText;
    return this.writes.answer(reply, receipt, { views: VIEWS, show, location });
  }

  private async addFiles({ caller, agentId, meta }: Adding, request: FastifyRequest, reply: FastifyReply) {
    const agent = await this.access.agent(caller, agentId, 'use');
    const ids: string[] = [];
    const receipt = await this.received(agent, ids, { caller, agentId, meta }, request).catch(
      async (error: unknown) => {
        await this.bodies.destroyUnused(ids, error);
        throw error;
      },
    );
    const show = async () => JsonText.of({ items: await this.created(agent, ids) });
    return this.writes.answer(reply, receipt, { views: VIEWS, show });
  }

  /** Adds the ids of the documents as their bodies come. */
  private async received(
    agent: SearchingAgent,
    ids: string[],
    { caller, agentId, meta }: Adding,
    request: FastifyRequest,
  ): Promise<Receipt> {
    const { fields, files } = await readUpload(
      request,
      { uploads: this.uploads, bodies: this.bodies },
      {
        body: uploadedDocuments,
        allow: async ({ scope, tagIds }) => {
          await this.knowledge.write(caller, agentId, scope);
          request.mayGoOn = (now) => this.knowledge.write(now, agentId, scope);
          await this.tags.assert(agent.spaceId, tagIds);
        },
        store: (body, { scope }, index) => {
          const documentId = addedDocumentId(meta, index);
          ids.push(documentId);
          return this.bodies.store(documentId, scope === 'global' ? null : agent.spaceId, body);
        },
        nameOf: ({ name }) => name,
      },
    );
    return this.commands.execute(
      new CreateDocuments(
        files.map((file) => documentOf(file, fields, agent)),
        meta,
      ),
    );
  }

  private async created(agent: SearchingAgent, ids: readonly string[]): Promise<readonly JsonText[]> {
    const rows = await Promise.all(ids.map((documentId) => this.queries.execute(new GetDocument(agent, documentId))));
    const sameNames = await Promise.all(rows.map((row) => this.queries.execute(new SameName(row))));
    const shown = await this.presenter.show(agent, rows);
    return shown.map((json, index) => json.with({ sameName: sameNames[index] ?? [] }));
  }

  private async shown(receipt: Receipt, { caller, agentId, documentId }: AskedDocument, reply: FastifyReply) {
    const show = async () => {
      const { document, ...agent } = await this.knowledge.read(caller, agentId, documentId);
      const json = await this.presenter.one(agent, document);
      return receipt.eventIds.length === 0 ? json.with({ unchanged: true }) : json;
    };
    return this.writes.answer(reply, receipt, { views: [...VIEWS, 'passages'], show });
  }
}
