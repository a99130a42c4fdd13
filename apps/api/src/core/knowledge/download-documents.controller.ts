import type { Readable } from 'node:stream';
import { Access, type Caller } from '@app/access';
import { Answers, AnswersAs, BodyInput, CurrentCaller, Documented, type Input, Reads, Requires } from '@app/http';
import { reject } from '@app/kernel';
import { MOST_DOCUMENTS, type SearchingAgent } from '@app/knowledge';
import { type DocumentRow, FindDocuments, GetDocument } from '@projections/documents';
import { Controller, Param, Post, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { documentIds } from './bulk-documents.controller';
import { DocumentBodies } from './document-body';
import { zipNames } from './zip-names';
import { type ZipEntry, zipOf } from './zip-stream';

const download = z.strictObject({
  documentIds: documentIds.describe(`The ids of the documents, without repeats; at most ${MOST_DOCUMENTS}.`),
});

/** The files of many documents. */
@Documented('Documents')
@Controller('/api/v1/core/knowledge/:agentId/documents')
export class DownloadDocumentsController {
  constructor(
    private readonly access: Access,
    private readonly queries: QueryBus,
    private readonly bodies: DocumentBodies,
  ) {}

  @Post('download')
  @Requires('knowledge:read')
  @ApiOperation({
    operationId: 'downloadDocuments',
    summary:
      'Downloads the original files of many documents as a zip archive. 404 if the Agent does not search one of them.',
  })
  @Answers(200)
  @AnswersAs('application/zip')
  @Reads('documents')
  async download(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(download) body: Input<typeof download>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    const agent = await this.access.agent(caller, agentId, 'use');
    const asked = body.parse().documentIds;
    const found = await this.queries.execute(new FindDocuments(agent, asked));
    const rows = asked.map(
      (id, index) => found.get(id) ?? reject('not_found', { kind: 'document', id, field: `documentIds[${index}]` }),
    );
    const names = zipNames(rows.map(({ id, name }) => (typeof name === 'string' ? name : id)));
    const entries = rows.map((row, index) => this.entry(agent, row, names[index] as string));
    // Where files cannot be read, the answer says so before it begins.
    await entries[0]?.open();
    reply.request.mayGoOn = (now) => this.access.agent(now, agentId, 'use');
    void reply
      .header('content-type', 'application/zip')
      .header('content-disposition', 'attachment; filename="documents.zip"')
      .header('cross-origin-resource-policy', 'same-origin');
    return zipOf(entries);
  }

  private entry(agent: SearchingAgent, { id, mimeType, lastModified }: DocumentRow, name: string): ZipEntry {
    const open = async () => {
      // Deleted, or replaced, since it was asked for.
      const { file } = await this.queries.execute(new GetDocument(agent, id));
      return (await this.bodies.open(id, file)).pieces;
    };
    return { name, changedAt: new Date(lastModified), compress: mimeType.startsWith('text/'), open };
  }
}
