import { Readable } from 'node:stream';
import type { Caller } from '@app/access';
import {
  Answers,
  AnswersAs,
  asFile,
  CurrentCaller,
  Documented,
  type Input,
  type JsonText,
  listOf,
  listQuery,
  Lists,
  QueryInput,
  Reads,
  Rejects,
  Requires,
  type Tagged,
  tagged,
} from '@app/http';
import { reject } from '@app/kernel';
import { SkillBodies } from '@app/skills';
import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { assertLength } from './file-paths';
import { SkillAccess, versionAmong } from './skill-access';
import { versionView } from './skills-schemas';

const plainList = listQuery({});

/** Versions of a Skill, or of one of the marketplace: what was published, and for its editors the draft. */
@Documented('Skills')
@Controller('/api/v1/core/skills/:skillId/versions')
export class SkillVersionsController {
  constructor(
    private readonly access: SkillAccess,
    private readonly bodies: SkillBodies,
    private readonly lists: Lists,
  ) {}

  @Get()
  @Requires('skills:read')
  @ApiOperation({ operationId: 'listSkillVersions', summary: 'Lists the versions of a Skill, newest first.' })
  @Answers(200, listOf(versionView.schema))
  @Rejects('not_found')
  @Reads()
  async list(
    @CurrentCaller() caller: Caller,
    @Param('skillId') skillId: string,
    @QueryInput(plainList) query: Input<typeof plainList>,
  ): Promise<JsonText> {
    const seen = await this.access.versions(caller, skillId);
    const asked = query.parse();
    const list = `skill-versions/${skillId}`;
    const { after, limit } = this.lists.page(list, caller, asked);
    const versions = seen.versions.toReversed();
    const from = after === undefined ? 0 : versions.findIndex(({ id }) => id === after.key) + 1;
    const page = versions.slice(from, from + limit);
    const next = from + limit < versions.length ? page.at(-1) : undefined;
    return this.lists.answer(
      list,
      caller,
      asked,
      page.map((version) => versionView({ skillId, version })),
      next === undefined ? null : { values: [], key: next.id },
    );
  }

  @Get(':versionId')
  @Requires('skills:read')
  @ApiOperation({
    operationId: 'getSkillVersion',
    summary: 'Reads a version of a Skill; the id `draft` reads its draft, with the `etag` of the Skill.',
  })
  @Answers(200, versionView.schema)
  @Rejects('not_found')
  @Reads()
  async read(
    @CurrentCaller() caller: Caller,
    @Param('skillId') skillId: string,
    @Param('versionId') versionId: string,
  ): Promise<JsonText | Tagged> {
    const seen = await this.access.versions(caller, skillId);
    const version = versionAmong(seen, versionId);
    const view = versionView({ skillId, version });
    // The draft is edited under the revision of its Skill; what is published never changes.
    return version.publishedAt === null ? tagged(view, seen.revision) : view;
  }

  @Get(':versionId/files/*')
  @Requires('skills:read')
  @ApiOperation({ operationId: 'downloadSkillFile', summary: 'Downloads a reference file of a version.' })
  @Answers(200)
  @AnswersAs('application/octet-stream')
  @Rejects('not_found')
  @Reads()
  async file(
    @CurrentCaller() caller: Caller,
    @Param('skillId') skillId: string,
    @Param('versionId') versionId: string,
    @Param('*') path: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Readable> {
    const seen = await this.access.versions(caller, skillId);
    const version = versionAmong(seen, versionId);
    assertLength(path);
    const file = version.files.get(path) ?? reject('not_found', { kind: 'file', id: path });
    const { size, pieces } = await this.bodies.open(seen.stream, file);
    reply.request.mayGoOn = (now) => this.access.versions(now, skillId);
    asFile(reply, { name: path.split('/').at(-1) ?? path, size });
    return Readable.from(pieces);
  }
}
