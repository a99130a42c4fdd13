import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { Caller } from '@app/access';
import { COORDINATION_STORE, type CoordinationStore } from '@app/coordination';
import {
  Answers,
  AnswersAs,
  asFile,
  CurrentCaller,
  Documented,
  type Input,
  JsonText,
  listOf,
  listQuery,
  Lists,
  QueryInput,
  Reads,
  Requires,
} from '@app/http';
import { readProgress } from '@app/knowledge';
import { ListDocumentLogs } from '@projections/document-logs';
import { Controller, Get, Inject, Param, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import { KnowledgeAccess } from './document-access';
import { DocumentBodies } from './document-body';
import { documentContent, documentLogView, runningStep } from './documents-schemas';

const pageQuery = listQuery({});

/** What a document holds: its file and text, and what ingestion did with it. */
@Documented('Documents')
@Controller('/api/v1/core/knowledge/:agentId/documents/:documentId')
export class DocumentContentController {
  constructor(
    private readonly knowledge: KnowledgeAccess,
    private readonly queries: QueryBus,
    private readonly lists: Lists,
    private readonly bodies: DocumentBodies,
    @Inject(COORDINATION_STORE) private readonly coordination: CoordinationStore,
  ) {}

  @Get('content')
  @Requires('knowledge:read')
  @ApiOperation({
    operationId: 'getDocumentContent',
    summary:
      'Reads the extracted text of a document, null until it is extracted. Offsets of chunks and citations count its characters.',
  })
  @Answers(200, documentContent)
  @Reads('documents')
  async content(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('documentId') documentId: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<z.output<typeof documentContent> | Readable> {
    const { document } = await this.knowledge.read(caller, agentId, documentId);
    if (document.text === null) return { documentId, text: null };
    const { pieces } = await this.bodies.open(documentId, document.text);
    reply.request.mayGoOn = (now) => this.knowledge.read(now, agentId, documentId);
    void reply.header('content-type', 'application/json; charset=utf-8');
    return Readable.from(jsonOf(documentId, pieces));
  }

  @Get('file')
  @Requires('knowledge:read')
  @ApiOperation({ operationId: 'downloadDocument', summary: 'Downloads the original file of a document.' })
  @Answers(200)
  @AnswersAs('application/octet-stream')
  @Reads('documents')
  async file(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('documentId') documentId: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    const { document } = await this.knowledge.read(caller, agentId, documentId);
    const { size, pieces } = await this.bodies.open(documentId, document.file);
    reply.request.mayGoOn = (now) => this.knowledge.read(now, agentId, documentId);
    const name = typeof document.name === 'string' ? document.name : document.id;
    asFile(reply, { name, size });
    return Readable.from(pieces);
  }

  @Get('logs')
  @Requires('knowledge:read')
  @ApiOperation({
    operationId: 'listDocumentLogs',
    summary: 'Lists the ingestion log of a document, newest first. `progress` shows a running attempt.',
  })
  @Answers(
    200,
    listOf(documentLogView.schema, { progress: runningStep.nullable().describe('The step that runs, or null.') }),
  )
  @Reads('documents', 'document-logs')
  async logs(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('documentId') documentId: string,
    @QueryInput(pageQuery) query: Input<typeof pageQuery>,
  ): Promise<JsonText> {
    await this.knowledge.read(caller, agentId, documentId);
    const asked = query.parse();
    const list = `document-logs/${documentId}`;
    const { rows, next } = await this.queries.execute(
      new ListDocumentLogs(documentId, this.lists.page(list, caller, asked)),
    );
    const progress = await readProgress(this.coordination, documentId);
    const running = progress === undefined ? null : runningStep.parse(progress);
    return this.lists
      .answer(
        list,
        caller,
        asked,
        rows.map(({ row }) => documentLogView(row)),
        next,
      )
      .with({ progress: running });
  }
}

/** The answer with a text, piece by piece as it is read: by hand, because a presenter would have to hold all of it. */
async function* jsonOf(documentId: string, pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  yield `{"documentId":${JSON.stringify(documentId)},"text":"`;
  for await (const piece of pieces) yield JSON.stringify(decoder.write(piece)).slice(1, -1);
  yield '"}';
}
