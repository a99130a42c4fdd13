import { Access, type Caller } from '@app/access';
import { COORDINATION_STORE, type CoordinationStore } from '@app/coordination';
import { EVENT_LOG, type EventLog } from '@app/event-log';
import { type CommandMeta, givenFields, type Receipt } from '@app/kernel';
import {
  addedDocumentId,
  CreateDocuments,
  Bodies,
  DeleteDocument,
  KnownTags,
  readProgress,
  ReprocessDocument,
  UpdateDocument,
} from '@app/knowledge';
import { FindDocument, GetDocument, ListDocuments } from '@projections/documents';
import { Controller, Delete, Get, Inject, Param, Post, Put, Req, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';
import {
  Accepts,
  Answers,
  AnswersAs,
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
  reached,
  Reads,
  Requires,
  tagged,
  written,
} from '@app/http';
import { type AskedDocument, KnowledgeAccess } from './document-access';
import { documentEvents } from './document-events';
import { DocumentPresenter } from './document-presenter';
import {
  documentChange,
  documentsQuery,
  type NewDocument,
  newInlineDocument,
  reprocessing,
  shownDocument,
} from './documents-schemas';
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
    private readonly presenter: DocumentPresenter,
    private readonly lists: Lists,
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(COORDINATION_STORE) private readonly coordination: CoordinationStore,
  ) {}

  @Get()
  @Requires('knowledge:read')
  @ApiOperation({
    operationId: 'listDocuments',
    summary: "Lists the documents that an Agent searches: its own, its Space's and global ones, newest first.",
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
    const hasForeignTag =
      filter.tagId !== undefined && (await this.tags.ofOthers(agent.spaceId, [filter.tagId])).length > 0;
    if (hasForeignTag) return this.lists.answer(list, caller, asked, [], null);
    const { rows, next } = await this.queries.execute(
      new ListDocuments(agent, filter, this.lists.page(list, caller, asked)),
    );
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

  @Get('events')
  @Requires('knowledge:read')
  @ApiOperation({
    operationId: 'streamDocumentEvents',
    summary: 'Follows changes of documents as Server-Sent Events: `document`, `deleted` and `progress`.',
  })
  @Answers(200)
  @AnswersAs('text/event-stream')
  @Reads()
  async events(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    await this.access.agent(caller, agentId, 'use');
    reply.request.mayReadOn = (now) => this.access.agent(now, agentId, 'use');
    const show = async (documentId: string) => {
      // Asked anew for every event: access may have ended since.
      const agent = await this.access.agent(caller, agentId, 'use');
      const row = await this.queries.execute(new FindDocument(agent, documentId));
      return row === undefined
        ? undefined
        : { json: await this.presenter.one(agent, row), running: row.status === 'Processing' };
    };
    const progress = async (documentId: string) => {
      const current = await readProgress(this.coordination, documentId);
      return current === undefined ? undefined : JSON.stringify(current);
    };
    const viewReached = (position: string) => reached(reply.server.edge.views, ['documents'], position);
    void reply.header('content-type', 'text/event-stream; charset=utf-8').header('x-accel-buffering', 'no');
    return documentEvents({ log: this.log, viewReached, show, progress });
  }

  @Post()
  @Requires('knowledge:write')
  @ApiOperation({
    operationId: 'createDocument',
    summary:
      'Adds documents: one as JSON, or one or more files as multipart (fields before files), answered as `{ items }`. Ingestion follows.',
  })
  @Accepts({ ...LARGE, files: true })
  @Answers(202, shownDocument)
  async add(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(newInlineDocument) body: Input<typeof newInlineDocument>,
    @CommandContext() meta: CommandMeta,
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
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { document, ...agent } = await this.knowledge.read(caller, agentId, documentId);
    tagged(reply, document.revision);
    return this.presenter.one(agent, document);
  }

  @Put(':documentId')
  @Requires('knowledge:write')
  @ApiOperation({
    operationId: 'updateDocument',
    summary:
      'Renames a document, sets its tags or replaces its content. New content is searched once the document is Ready again; until then nothing of it is.',
  })
  @Accepts(LARGE)
  @Answers(200, shownDocument)
  async change(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('documentId') documentId: string,
    @BodyInput(documentChange) body: Input<typeof documentChange>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { document, spaceId } = await this.knowledge.change(caller, agentId, documentId);
    const { content, mimeType, ...fields } = givenFields(body.parse());
    await this.tags.assert(spaceId, fields.tagIds ?? []);
    // The tags that other Spaces gave to a global document are not shown here, and stay.
    const tagIds =
      fields.tagIds === undefined
        ? {}
        : { tagIds: [...fields.tagIds, ...(await this.tags.ofOthers(spaceId, document.tagIds))] };
    const replacement =
      content === undefined ? {} : { content: { mimeType: mimeType ?? document.mimeType, body: Buffer.from(content) } };
    const change = { ...fields, ...tagIds, ...replacement };
    const receipt = await this.commands.execute(new UpdateDocument(documentId, change, meta));
    return this.shown(receipt, { caller, agentId, documentId }, reply);
  }

  @Delete(':documentId')
  @Requires('knowledge:write')
  @ApiOperation({
    operationId: 'deleteDocument',
    summary: 'Deletes a document permanently, with everything made from it.',
  })
  @Answers(204)
  async remove(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('documentId') documentId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.knowledge.change(caller, agentId, documentId);
    return written(reply, await this.commands.execute(new DeleteDocument(documentId, meta)), {
      views: [...VIEWS, 'passages'],
    });
  }

  @Post(':documentId/reprocess')
  @Requires('knowledge:write')
  @ApiOperation({
    operationId: 'reprocessDocument',
    summary: 'Ingests a document again. Without `force`, only if that could change anything.',
  })
  @Accepts({ required: false })
  @Answers(202, shownDocument)
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
    return this.shown(receipt, { caller, agentId, documentId }, reply, location);
  }

  private async addFiles({ caller, agentId, meta }: Adding, request: FastifyRequest, reply: FastifyReply) {
    const agent = await this.access.agent(caller, agentId, 'use');
    const { fields, files } = await readUpload(request, this.bodies, agent.spaceId, meta, async ({ scope, tagIds }) => {
      await this.knowledge.write(caller, agentId, scope);
      await this.tags.assert(agent.spaceId, tagIds);
    });
    const receipt = await this.commands.execute(
      new CreateDocuments(
        files.map((file) => documentOf(file, fields, agent)),
        meta,
      ),
    );
    const rows = () =>
      Promise.all(files.map((_, index) => this.queries.execute(new GetDocument(agent, addedDocumentId(meta, index)))));
    const show = async () =>
      new JsonText(`{"items":[${(await this.presenter.show(agent, await rows())).map(({ text }) => text).join(',')}]}`);
    return written(reply, receipt, { views: VIEWS, show });
  }

  private async shown(
    receipt: Receipt,
    { caller, agentId, documentId }: AskedDocument,
    reply: FastifyReply,
    location?: string,
  ) {
    const show = async () => {
      const { document, ...agent } = await this.knowledge.read(caller, agentId, documentId);
      return this.presenter.one(agent, document);
    };
    return written(reply, receipt, { views: VIEWS, show, ...(location === undefined ? {} : { location }) });
  }
}
