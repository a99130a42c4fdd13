import { Readable } from 'node:stream';
import { Access, type Caller } from '@app/access';
import { type Attached, Attachments, MOST_FILE_BYTES } from '@app/conversations';
import {
  AcceptsFiles,
  Answers,
  AnswersAs,
  asFile,
  CommandContext,
  CurrentCaller,
  Documented,
  type JsonText,
  InvalidInput,
  onlyFile,
  presenter,
  Reads,
  Rejects,
  Requires,
  Writes,
  Uploads,
} from '@app/http';
import { type CommandMeta, deriveId, isErased, nameSchema, reject } from '@app/kernel';
import { Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

const FILES = '/api/v1/core/llm/:agentId/files';

const fileName = nameSchema(500);
const sent = onlyFile('The file: text, Markdown, PDF, PNG, JPEG, WebP or GIF.');

const fileView = presenter(
  'AttachedFile',
  z.object({
    id: z.string().describe('Its id, to name it in a `file` part.'),
    filename: z.string().describe('Its name.'),
    mediaType: z.string().describe('Its media type, detected from its content.'),
    sizeBytes: z.number().int().describe('Its size in bytes.'),
    expiresAt: z
      .string()
      .describe('When it is deleted, unless a message uses it. It is then deleted with the last such message.'),
  }),
);

/** Files that users attach to their questions. */
@Documented('Conversations')
@Controller(FILES)
export class FilesController {
  constructor(
    private readonly access: Access,
    private readonly attachments: Attachments,
    private readonly writes: Writes,
    private readonly uploads: Uploads,
  ) {}

  @Post()
  @Requires('llm')
  @ApiOperation({
    operationId: 'uploadAttachment',
    summary: 'Uploads a file to attach to questions: text, Markdown, PDF, PNG, JPEG, WebP or GIF, as the part `file`.',
  })
  @AcceptsFiles(sent)
  @Answers(201, fileView.schema)
  async upload(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @CommandContext() meta: CommandMeta,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonText | undefined> {
    const { spaceId } = await this.access.agent(caller, agentId, 'use');
    const file = await sentFile(request, this.uploads);
    const fileId = deriveId(meta.commandId, 'attachment');
    const { userId } = caller;
    const receipt = await this.attachments.add(fileId, { userId, agentId, spaceId }, file, meta);
    return this.writes.answer(reply, receipt, {
      views: ['attachments'],
      show: async () => shown(await this.attachments.own({ userId, agentId }, fileId)),
      location: `${FILES.replace(':agentId', agentId)}/${fileId}`,
    });
  }

  @Get(':fileId')
  @Requires('llm')
  @ApiOperation({ operationId: 'getAttachment', summary: 'Reads the metadata of an attached file.' })
  @Answers(200, fileView.schema)
  @Rejects('not_found')
  @Reads('attachments')
  async read(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('fileId') fileId: string,
  ): Promise<JsonText> {
    await this.access.agent(caller, agentId, 'use');
    return shown(await this.attachments.own({ userId: caller.userId, agentId }, fileId));
  }

  @Get(':fileId/content')
  @Requires('llm')
  @ApiOperation({
    operationId: 'downloadAttachment',
    summary: 'Downloads an attached file as it was uploaded, with its `mediaType`.',
  })
  @Answers(200)
  @AnswersAs('*/*')
  @Rejects('not_found')
  @Reads('attachments')
  async content(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('fileId') fileId: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    await this.access.agent(caller, agentId, 'use');
    const participants = { userId: caller.userId, agentId };
    const { attached, body } = await this.attachments.open(participants, fileId);
    const { filename, mediaType } = attached;
    reply.request.mayGoOn = async (now) => {
      await this.access.agent(now, agentId, 'use');
      await this.attachments.own(participants, fileId);
    };
    // It is one of few types, found by its bytes: images are shown under their own.
    const shownAs = mediaType.startsWith('text/') ? `${mediaType}; charset=utf-8` : mediaType;
    asFile(reply, { name: isErased(filename) ? fileId : filename, size: body.size, mediaType: shownAs });
    return Readable.from(body.pieces);
  }
}

const shown = ({ fileId: id, filename, mediaType, sizeBytes, expiresAt }: Attached): JsonText =>
  fileView({ id, filename: isErased(filename) ? '' : filename, mediaType, sizeBytes, expiresAt });

/** The one file of a multipart body, whole: it is looked at before it is stored. */
const sentFile = async (request: FastifyRequest, uploads: Uploads) => {
  if (!request.isMultipart()) throw fault('required', 'A file is sent as multipart/form-data, as a part named file.');
  let file: { filename: string; mediaType: string; body: Buffer } | undefined;
  for await (const part of uploads.parts(request)) {
    if (part.kind !== 'file' || part.name !== 'file')
      throw new InvalidInput('unknown_field', [
        { path: part.name, code: 'unknown_field', message: 'Send one part named file.' },
      ]);
    if (file !== undefined) throw fault('too_many_files', 'Send one file.');
    const name = fileName.safeParse(part.fileName);
    if (!name.success) throw fault('invalid_name', 'The file needs a name of 1 to 500 characters.');
    file = { filename: name.data, mediaType: part.mimeType, body: await wholeOf(part.body) };
  }
  return file ?? Promise.reject(fault('required', 'A file is required, as a part named file.'));
};

const wholeOf = async (body: AsyncIterable<Buffer>): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > MOST_FILE_BYTES) return reject('too_large', { bytes, limit: MOST_FILE_BYTES, reason: 'attachment' });
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
};

const fault = (code: string, message: string): InvalidInput =>
  new InvalidInput('invalid_body', [{ path: 'file', code, message }]);
