import type { Caller } from '@app/access';
import { type Blobs, BLOBS } from '@app/blobs';
import {
  Answers,
  BodyInput,
  CommandContext,
  CurrentCaller,
  Documented,
  type Input,
  JsonText,
  listOf,
  listQuery,
  Lists,
  pageOf,
  QueryInput,
  Reads,
  Rejects,
  Requires,
  type Tagged,
  tagged,
  Writes,
} from '@app/http';
import { type CommandMeta, givenFields, reject, streamOf } from '@app/kernel';
import { documentDecider, UpdateDocumentChunk } from '@app/knowledge';
import { passagesFrom, type StoredPassage } from '@app/search-index';
import type { DocumentRow } from '@projections/documents';
import { Controller, Get, Inject, Param, Put, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { KnowledgeAccess } from './document-access';
import { chunkUpdate, chunkView, writtenChunk } from './documents-schemas';

const pageQuery = listQuery({});

/** The chunks of a document, as searches find them, and how people change them. */
@Documented('Documents')
@Controller('/api/v1/core/knowledge/:agentId/documents/:documentId/chunks')
export class DocumentChunksController {
  constructor(
    private readonly knowledge: KnowledgeAccess,
    private readonly commands: CommandBus,
    private readonly lists: Lists,
    @Inject(BLOBS) private readonly blobs: Blobs,
    private readonly writes: Writes,
  ) {}

  @Get()
  @Requires('knowledge:read')
  @ApiOperation({
    operationId: 'listDocumentChunks',
    summary: 'Lists the searchable chunks of a document, in the order of the text.',
  })
  @Answers(200, listOf(chunkView.schema))
  @Reads('documents')
  async list(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('documentId') documentId: string,
    @QueryInput(pageQuery) query: Input<typeof pageQuery>,
  ): Promise<JsonText> {
    const { document } = await this.knowledge.read(caller, agentId, documentId);
    const asked = query.parse();
    const list = `chunks/${documentId}`;
    const { limit, after } = this.lists.page(list, caller, asked);
    const found: StoredPassage[] = [];
    for await (const passage of this.passages(document, after === undefined ? 0 : Number(after.values[0]) + 1))
      if (found.push(passage) > limit) break;
    const { items, next } = pageOf(found, limit, ({ ordinal, chunkId }) => ({ values: [ordinal], key: chunkId }));
    return this.lists.answer(
      list,
      caller,
      asked,
      items.map((passage) => chunkView(passage)),
      next,
    );
  }

  @Get(':chunkId')
  @Requires('knowledge:read')
  @ApiOperation({ operationId: 'getDocumentChunk', summary: 'Reads a chunk. The `etag` is that of the document.' })
  @Answers(200, chunkView.schema)
  @Reads('documents')
  async read(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('documentId') documentId: string,
    @Param('chunkId') chunkId: string,
  ): Promise<Tagged> {
    const { document } = await this.knowledge.read(caller, agentId, documentId);
    const chunk = await this.chunk(document, chunkId);
    return tagged(chunkView(chunk), document.revision);
  }

  @Put(':chunkId')
  @Requires('knowledge:write')
  @ApiOperation({
    operationId: 'updateDocumentChunk',
    summary:
      'Updates the text of a chunk, or whether it is searched. The change is kept when the same content is ingested again. The `etag` is that of the document, which must be Ready.',
  })
  @Answers(200, writtenChunk)
  @Rejects('upstream_error', 'upstream_timeout', 'usage_limit_exceeded')
  async update(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('documentId') documentId: string,
    @Param('chunkId') chunkId: string,
    @BodyInput(chunkUpdate) body: Input<typeof chunkUpdate>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { document, spaceId } = await this.knowledge.change(caller, agentId, documentId);
    // Nothing is read of its present content: the command says that it must be Ready.
    if (document.passages !== null) await this.chunk(document, chunkId);
    const payer = { userId: caller.userId, agentId, spaceId, ...givenFields({ keyId: caller.keyId }) };
    const { signal } = new AbortController();
    const edit = givenFields(body.parse());
    const receipt = await this.commands.execute(
      new UpdateDocumentChunk(documentId, chunkId, edit, payer, signal, meta),
    );
    const show = async () => {
      const now = await this.knowledge.read(caller, agentId, documentId);
      const json = chunkView(await this.chunk(now.document, chunkId));
      return receipt.eventIds.length === 0 ? json.with({ unchanged: true }) : json;
    };
    return this.writes.answer(reply, receipt, { views: ['documents', 'passages'], show });
  }

  private async chunk(document: DocumentRow, chunkId: string): Promise<StoredPassage> {
    for await (const passage of this.passages(document, 0)) if (passage.chunkId === chunkId) return passage;
    return reject('not_found', { kind: 'chunk', id: chunkId });
  }

  private async *passages({ id, passages }: DocumentRow, from: number): AsyncGenerator<StoredPassage> {
    if (passages === null) return;
    const body = await this.blobs.open(streamOf(documentDecider.category, id), passages);
    if (body === undefined) return reject('not_found', { kind: 'content', id });
    yield* passagesFrom(body.pieces, from);
  }
}
