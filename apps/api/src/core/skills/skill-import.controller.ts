import { Readable } from 'node:stream';
import type { Caller } from '@app/access';
import {
  AcceptsFiles,
  Answers,
  AnswersAs,
  CommandContext,
  CurrentCaller,
  Documented,
  type Input,
  presenter,
  problemOf,
  QueryInput,
  Reads,
  Rejects,
  Requires,
  Writes,
  Uploads,
} from '@app/http';
import { type CommandMeta, idOf, isDomainError, type Receipt, reject, revealed, stepOf } from '@app/kernel';
import {
  UpdateSkill,
  CreateSkill,
  filesOf,
  type ParsedSkill,
  readSkillArchive,
  type SkillArchive,
  skillArchive,
  SkillBodies,
  SkillFailure,
  SkillLimit,
  type SkillLimits,
  SkillNames,
  type SkillOutcome,
  type SkillVersion,
} from '@app/skills';
import { Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type SeenVersions, SkillAccess, type SkillPlace, versionAmong } from './skill-access';
import { invalidSkill, type SentFile, sentSkill } from './sent-skill';
import { SkillTransfers } from './skill-transfers';
import { importedSkills, warnings } from './skills-schemas';

const VIEWS = ['skills'];

const exportQuery = z.strictObject({
  versionId: z.string().optional().describe('A version, or `draft`. By default, the live version.'),
});

const importResult = z.object({
  path: z.string().describe('The SKILL.md in the archive.'),
  ok: z.boolean().describe('Whether it became a Skill or a draft.'),
  skillId: z.string().exactOptional().describe('The Skill.'),
  code: z.string().exactOptional().describe('Why it failed.'),
  message: z.string().exactOptional().describe('What is wrong, with file, line and key.'),
  warnings,
});
const imported = presenter(
  'ImportedSkills',
  z.object({
    results: z.array(importResult).describe('One result for each SKILL.md, in the order of their paths.'),
    ignored: z.array(z.string()).describe('Files that belong to no SKILL.md. They are not kept.'),
  }),
);
type Result = z.output<typeof importResult>;

/** How an archive is imported. */
interface Importing {
  readonly place: SkillPlace;
  readonly mode: 'create' | 'update';
  readonly caller: Caller;
  readonly meta: CommandMeta;
  /** Slugs that the archive had before: another of one would undo what the first became. */
  readonly seen: Set<string>;
}

/** Skills in files: an archive of many, a new draft, and export. */
@Documented('Skills')
@Controller('/api/v1/core/skills')
export class SkillImportController {
  constructor(
    private readonly commands: CommandBus,
    private readonly access: SkillAccess,
    private readonly limits: SkillLimit,
    private readonly names: SkillNames,
    private readonly bodies: SkillBodies,
    private readonly transfers: SkillTransfers,
    private readonly writes: Writes,
    private readonly uploads: Uploads,
  ) {}

  @Post('import')
  @Requires('skills:write')
  @ApiOperation({
    operationId: 'importSkills',
    summary:
      'Imports every SKILL.md of an archive, each with its own outcome: as new Skills, or with the mode `update` as drafts of the Skills with the same slugs. Multipart: `scope`, `spaceId` or `agentId` and `mode`, then the part `file`.',
  })
  @AcceptsFiles(importedSkills)
  @Answers(201, imported.schema)
  @Rejects('invalid_archive', 'not_found', 'forbidden', 'agent_not_granted')
  async import(
    @CurrentCaller() caller: Caller,
    @CommandContext({ hasEtag: false }) meta: CommandMeta,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const allow = (given: z.output<typeof importedSkills.fields>, now = caller) => this.placeFor(now, given);
    const { receipts, results, ignored } = await this.transfers.receive(
      caller,
      (take) => sentSkill(request, importedSkills, { uploads: this.uploads, most: this.transfers.most, take, allow }),
      ({ fields, file }) =>
        this.transfers.read(caller, async () => {
          const place = await this.placeFor(caller, fields);
          return this.importAll(file, { place, mode: fields.mode, caller, meta, seen: new Set() });
        }),
    );
    return this.writes.answerTogether(reply, receipts, {
      views: VIEWS,
      keptWith: receipts.at(-1)?.stream ?? '',
      json: imported({ results, ignored }),
    });
  }

  @Get(':skillId/export')
  @Requires('skills:read')
  @ApiOperation({
    operationId: 'exportSkill',
    summary:
      'Downloads a version of a Skill as a zip in the Agent Skills format: SKILL.md and its files in one folder.',
  })
  @Answers(200)
  @AnswersAs('application/zip')
  @Rejects('not_found')
  @Reads()
  async export(
    @CurrentCaller() caller: Caller,
    @Param('skillId') skillId: string,
    @QueryInput(exportQuery) query: Input<typeof exportQuery>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    const seen = await this.access.versions(caller, skillId);
    // Without a version the one that is live, or the draft of what was never published.
    const version = versionAmong(seen, query.parse().versionId ?? seen.activeVersionId ?? 'draft');
    const archive = await this.transfers.pack(caller, () => this.archiveOf(seen, version));
    const name = encodeURIComponent(`${revealed<string>(seen.slug, 'skill')}.zip`);
    void reply
      .header('content-type', 'application/zip')
      .header('content-length', archive.length)
      .header('content-disposition', `attachment; filename*=UTF-8''${name}`)
      .header('x-content-type-options', 'nosniff');
    return Readable.from([archive]);
  }

  private async placeFor(
    caller: Caller,
    { spaceId, agentId }: { readonly spaceId?: string | undefined; readonly agentId?: string | undefined },
  ): Promise<SkillPlace> {
    const asked = spaceId === undefined ? { agentId: agentId as string } : { spaceId };
    const { edits: _, ...place } = await this.access.place(caller, asked, 'editor');
    return place;
  }

  private async importAll({ bytes }: SentFile, importing: Importing) {
    const receipts: Receipt[] = [];
    const results: Result[] = [];
    const { outcomes, ignored } = await skillsIn(bytes, this.limits.ofVersion);
    for (const outcome of outcomes) {
      const { receipt, ...result } = await this.importOne(outcome, importing);
      results.push(result);
      if (receipt !== undefined) receipts.push(receipt);
    }
    return { receipts, results, ignored };
  }

  /** What one SKILL.md became. What is wrong with one keeps no other from being imported. */
  private async importOne(
    outcome: SkillOutcome,
    { place, mode, caller, meta, seen }: Importing,
  ): Promise<Result & { readonly receipt?: Receipt }> {
    const { path } = outcome;
    if (!outcome.ok) return { path, ok: false, code: outcome.code, message: outcome.message, warnings: [] };
    const { skill } = outcome;
    const step = stepOf(meta, `import/${path}`);
    try {
      if (mode === 'update') {
        if (seen.has(skill.slug)) reject('name_taken', { path: 'slug' });
        const skillId =
          (await this.names.withSlug(place, skill.slug)) ?? reject('not_found', { kind: 'skill', id: skill.slug });
        const receipt = await this.redraft(skillId, skill, caller, step);
        seen.add(skill.slug);
        return { path, ok: true, skillId, warnings: [...skill.warnings], receipt };
      }
      const { name, slug } = skill;
      const origin = {
        ...place,
        source: 'CUSTOM',
        provider: 'upload',
        sourceId: null,
        creatorType: 'USER',
        creatorId: caller.userId,
      } as const;
      const created = { origin, name, slug, content: contentFrom(skill), publish: false };
      const { skillId, receipt } = await this.commands.execute(new CreateSkill(created, step));
      return { path, ok: true, skillId, warnings: [...skill.warnings], receipt };
    } catch (error) {
      if (!isDomainError(error)) throw error;
      return { path, ok: false, code: error.code, message: problemOf(error).detail, warnings: [...skill.warnings] };
    }
  }

  private redraft(skillId: string, skill: ParsedSkill, { userId }: Caller, meta: CommandMeta): Promise<Receipt> {
    return this.commands.execute(new UpdateSkill(skillId, { content: contentFrom(skill), whole: true }, userId, meta));
  }

  private async archiveOf({ stream, name, slug }: SeenVersions, version: SkillVersion): Promise<Buffer> {
    const files = filesOf(version).map(async (file) => ({
      path: revealed<string>(file.path, ''),
      bytes: (await this.bodies.read(stream, file)) ?? reject('not_found', { kind: 'skill', id: idOf(stream) }),
    }));
    return skillArchive({
      name: revealed<string>(name, ''),
      slug: revealed<string>(slug, ''),
      description: revealed<string>(version.description, ''),
      instructions: revealed<string>(version.instructions, ''),
      frontmatter: revealed(version.frontmatter, {}),
      files: await Promise.all(files),
    });
  }
}

/** What is wrong with the whole archive names the entry. */
const skillsIn = async (bytes: Buffer, limits: SkillLimits): Promise<SkillArchive> => {
  try {
    return await readSkillArchive(bytes, limits);
  } catch (error) {
    throw error instanceof SkillFailure ? invalidSkill(error) : error;
  }
};

const contentFrom = ({ description, instructions, frontmatter, files }: ParsedSkill) => ({
  description,
  instructions,
  frontmatter,
  files,
});
