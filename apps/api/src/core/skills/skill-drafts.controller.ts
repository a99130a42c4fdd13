import { createHash } from 'node:crypto';
import type { Caller } from '@app/access';
import {
  AcceptsFiles,
  Answers,
  CommandContext,
  CurrentCaller,
  Documented,
  InvalidInput,
  type JsonText,
  onlyFile,
  Rejects,
  Requires,
  Writes,
  Uploads,
} from '@app/http';
import { type CommandMeta, type Receipt, reject } from '@app/kernel';
import {
  activeVersion,
  UpdateSkill,
  areDistinct,
  DiscardDraft,
  isArchive,
  mediaTypeOf,
  referencePathFault,
  SkillLimit,
} from '@app/skills';
import { Controller, Delete, Param, Put, Req, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { MOST_OF_FILE, parsedSkill, sentBytes, type SentFile, sentSkill, type TakeBody } from './sent-skill';
import { assertLength, invalidPath } from './file-paths';
import { type SeenSkill, SkillAccess, shownSkill } from './skill-access';
import { SkillTransfers } from './skill-transfers';
import { skillView, warned } from './skills-schemas';

const draft = onlyFile('The Skill, a `.md`, `.zip` or `.skill`.');
const referenceFile = onlyFile('The content of the reference file.');
const BYTES =
  'The content of the reference file: in a form, as the part `file`, or as it is, under any other media type or none.';
/** It could not stand in the archive that the Skill is exported as. */
const CLASH =
  'has the path of another file or of its folder, but for case or accents, or a file in place of a folder. Choose another.';
const NO_ARCHIVE = 'This is an archive, which no Skill holds. Send its files.';

/** The draft of a Skill. What is live stays until it is published. */
@Documented('Skills')
@Controller('/api/v1/core/skills/:skillId/draft')
export class SkillDraftsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly access: SkillAccess,
    private readonly limits: SkillLimit,
    private readonly transfers: SkillTransfers,
    private readonly writes: Writes,
    private readonly uploads: Uploads,
  ) {}

  @Put()
  @Requires('skills:write')
  @ApiOperation({
    operationId: 'replaceSkillDraft',
    summary:
      'Replaces the draft of a Skill with a `.md`, `.zip` or `.skill` file, sent as the part `file`. The name of the Skill stays.',
  })
  @AcceptsFiles(draft)
  @Answers(200, warned)
  @Rejects('conflict', 'not_found', 'forbidden', 'invalid_archive', 'invalid_frontmatter')
  async replace(
    @CurrentCaller() caller: Caller,
    @Param('skillId') skillId: string,
    @CommandContext() meta: CommandMeta,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.change(caller, skillId);
    request.mayGoOn = (now) => this.access.change(now, skillId);
    const { receipt, warnings } = await this.transfers.receive(
      caller,
      (take) => sentSkill(request, draft, { uploads: this.uploads, most: this.transfers.most, take }),
      ({ file }) => this.transfers.read(caller, () => this.replaced(skillId, file, caller, meta)),
    );
    return this.written(reply, receipt, async () => (await this.show(caller, skillId)).with({ warnings }));
  }

  @Delete()
  @Requires('skills:write')
  @ApiOperation({ operationId: 'discardSkillDraft', summary: 'Discards the draft of a Skill.' })
  @Answers(204)
  @Rejects('conflict', 'not_found', 'forbidden')
  async discard(
    @CurrentCaller() caller: Caller,
    @Param('skillId') skillId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.access.change(caller, skillId);
    return this.written(reply, await this.commands.execute(new DiscardDraft(skillId, meta)));
  }

  @Put('files/*')
  @Requires('skills:write')
  @ApiOperation({
    operationId: 'putSkillFile',
    summary: 'Adds a reference file to the draft, or replaces it, with the body, or with the part `file` of a form.',
  })
  @AcceptsFiles(referenceFile, { bytes: BYTES })
  @Answers(200, skillView.schema)
  @Rejects('conflict', 'not_found', 'forbidden', 'invalid_archive')
  async putFile(
    @CurrentCaller() caller: Caller,
    @Param('skillId') skillId: string,
    @Param('*') path: string,
    @CommandContext() meta: CommandMeta,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    assertPath(path, await this.access.change(caller, skillId));
    request.mayGoOn = (now) => this.access.change(now, skillId);
    const read = (take: TakeBody) =>
      sentBytes(request, referenceFile, { uploads: this.uploads, most: MOST_OF_FILE, take });
    const receipt = await this.transfers.receive(caller, read, async ({ file: { bytes } }) => {
      if (isArchive(path, bytes))
        throw new InvalidInput('invalid_archive', [{ path: 'file', code: 'invalid_archive', message: NO_ARCHIVE }]);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      const file = { path, mediaType: mediaTypeOf(path), sizeBytes: bytes.length, sha256, bytes };
      const change = { content: { files: [file] } };
      return this.commands.execute(new UpdateSkill(skillId, change, caller.userId, meta));
    });
    return this.written(reply, receipt, () => this.show(caller, skillId));
  }

  @Delete('files/*')
  @Requires('skills:write')
  @ApiOperation({ operationId: 'deleteSkillFile', summary: 'Deletes a reference file from the draft.' })
  @Answers(204)
  @Rejects('conflict', 'not_found', 'forbidden')
  async deleteFile(
    @CurrentCaller() caller: Caller,
    @Param('skillId') skillId: string,
    @Param('*') path: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { skill } = await this.access.change(caller, skillId);
    assertLength(path);
    if ((skill.draft ?? activeVersion(skill))?.files.has(path) !== true)
      reject('not_found', { kind: 'file', id: path });
    const change = { content: { removed: [path] } };
    return this.written(reply, await this.commands.execute(new UpdateSkill(skillId, change, caller.userId, meta)));
  }

  private async replaced(skillId: string, file: SentFile, { userId }: Caller, meta: CommandMeta) {
    const { description, instructions, frontmatter, files, warnings } = await parsedSkill(file, this.limits.ofVersion);
    const change = { content: { description, instructions, frontmatter, files }, whole: true } as const;
    return { receipt: await this.commands.execute(new UpdateSkill(skillId, change, userId, meta)), warnings };
  }

  private written(reply: FastifyReply, receipt: Receipt, show?: () => Promise<JsonText>) {
    return this.writes.answer(reply, receipt, { views: ['skills'], ...(show === undefined ? {} : { show }) });
  }

  private async show(caller: Caller, skillId: string): Promise<JsonText> {
    return skillView(shownSkill(await this.access.read(caller, skillId)));
  }
}

/** Rejects a path that could not stand in an archive beside those of the others: some systems would take it for one of them. */
const assertPath = (path: string, { skill }: SeenSkill): void => {
  const others = (skill.draft ?? activeVersion(skill))?.files.delete(path).keySeq() ?? [];
  const fault = referencePathFault(path) ?? (areDistinct([...others, path]) ? undefined : CLASH);
  if (fault !== undefined) throw invalidPath(fault);
};
