import { Access, type Caller } from '@app/access';
import {
  Accepts,
  AcceptsFiles,
  Answers,
  BodyInput,
  CommandContext,
  CurrentCaller,
  Documented,
  type Input,
  InvalidInput,
  LARGE_JSON_LIMIT,
  presenter,
  Requires,
  withFile,
  Writes,
  Uploads,
} from '@app/http';
import { type CommandMeta, streamOf } from '@app/kernel';
import {
  Bodies,
  confirmedPathsSchema,
  MOST_SYNCED_FILES,
  PutSyncedFile,
  sourceFilesSchema,
  sourceIdSchema,
  sourcePathSchema,
  SyncedDocuments,
  SyncSource,
} from '@app/knowledge';
import { GetDocument } from '@projections/documents';
import { Controller, Param, Post, Req, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { DocumentPresenter } from './document-presenter';
import { writtenDocument } from './documents-schemas';
import { readUpload, type UploadedFile } from './upload-files';

const listing = z.strictObject({
  files: sourceFilesSchema.describe(`All files of the source, each path once; at most ${MOST_SYNCED_FILES}.`),
  confirmDeletions: z
    .union([z.boolean(), confirmedPathsSchema])
    .default(false)
    .describe(
      'The paths whose documents can be deleted, such as those that were `withheld`; all others are withheld. `true` confirms all deletions, however many.',
    ),
  dryRun: z.boolean().default(false).describe('Only reports what would be done.'),
});
const paths = (text: string) => z.array(z.string()).describe(text);
const syncResult = presenter(
  'SyncResult',
  z.object({
    upload: paths('New files to upload.'),
    replace: paths('Changed files to upload.'),
    vanished: paths('Files that are gone. Their documents are deleted.'),
    withheld: paths(
      'Files that are gone, whose documents are kept until you confirm: too many, or different from those you confirmed.',
    ),
  }),
);
const sourceFile = withFile(
  z.strictObject({ path: sourcePathSchema.describe('The path of the file in the source.') }),
  'The content of the file.',
);

/** Keeps an Agent's documents the same as the files of a source, such as a folder. */
@Documented('Documents')
@Controller('/api/v1/core/knowledge/:agentId/sources/:sourceId')
export class SourcesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly access: Access,
    private readonly bodies: Bodies,
    private readonly synced: SyncedDocuments,
    private readonly presenter: DocumentPresenter,
    private readonly writes: Writes,
    private readonly uploads: Uploads,
  ) {}

  @Post('sync')
  @Requires('knowledge:write')
  @ApiOperation({
    operationId: 'syncSource',
    summary:
      'Compares the files of a source with its documents, deletes documents whose files are gone, and lists the files to upload. If more than 10 documents and more than 10 % of them would be deleted, the deletions wait for confirmation.',
  })
  @Accepts({ limit: LARGE_JSON_LIMIT })
  @Answers(200, syncResult.schema)
  async sync(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('sourceId') sourceId: string,
    @BodyInput(listing) body: Input<typeof listing>,
    @CommandContext({ hasEtag: false }) meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.agent(caller, agentId, 'edit');
    assertSource(sourceId);
    const { plan, receipts } = await this.commands.execute(
      new SyncSource({ agentId, sourceId, ...body.parse() }, meta),
    );
    const { upload, replace } = plan;
    const [vanished, withheld] = [plan.vanished, plan.withheld].map((gone) => gone.map(({ path }) => path));
    return this.writes.answerTogether(reply, receipts, {
      views: ['documents', 'tags', 'passages'],
      keptWith: streamOf('agent', agentId),
      json: syncResult({ upload, replace, vanished, withheld }),
      // What was deleted is erased, its path too. What is withheld may be deleted before a repeat, which compares again.
      kept: plan.withheld.length > 0 ? null : syncResult({ upload, replace, vanished: [], withheld: [] }),
    });
  }

  @Post('files')
  @Requires('knowledge:write')
  @ApiOperation({
    operationId: 'putSourceFile',
    summary:
      'Uploads a file of a source, as multipart: `path`, then `file`. Identical content changes nothing, unless the document is `Failed`: then it is ingested again.',
  })
  @AcceptsFiles(sourceFile)
  @Answers(202, writtenDocument)
  async put(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('sourceId') sourceId: string,
    @CommandContext() meta: CommandMeta,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const agent = await this.access.agent(caller, agentId, 'edit');
    assertSource(sourceId);
    if (!request.isMultipart())
      throw new InvalidInput('invalid_body', [
        { path: '', code: 'required', message: 'A file is sent as multipart/form-data: path, then file.' },
      ]);
    request.mayGoOn = (now) => this.access.agent(now, agentId, 'edit');
    let documentId = '';
    const { fields, files } = await readUpload(
      request,
      { uploads: this.uploads, bodies: this.bodies },
      {
        body: sourceFile,
        allow: async ({ path }) => void (documentId = await this.synced.idOf({ agentId, sourceId, path })),
        store: (file) => this.bodies.store(documentId, agent.spaceId, file),
        nameOf: ({ path }) => path,
      },
    );
    const { mimeType, body } = files[0] as UploadedFile;
    const receipt = await this.commands.execute(
      new PutSyncedFile({ documentId, agent, sourceId, path: fields.path, mimeType, body }, meta),
    );
    const show = async () => {
      const json = await this.presenter.one(agent, await this.queries.execute(new GetDocument(agent, documentId)));
      return receipt.eventIds.length === 0 ? json.with({ unchanged: true }) : json;
    };
    const location = `/api/v1/core/knowledge/${agentId}/documents/${documentId}`;
    return this.writes.answer(reply, receipt, { views: ['documents', 'tags'], show, location });
  }
}

const assertSource = (sourceId: string): void => {
  if (!sourceIdSchema.safeParse(sourceId).success)
    throw new InvalidInput('invalid_parameter', [
      { path: 'sourceId', code: 'invalid_format', message: 'Must be 1 to 64 of a-z, 0-9 and -.' },
    ]);
};
