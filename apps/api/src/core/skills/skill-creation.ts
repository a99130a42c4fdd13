import type { Caller } from '@app/access';
import { Uploads } from '@app/http';
import type { CommandMeta } from '@app/kernel';
import {
  type CreatedSkill,
  createdSkillId,
  CreateSkill,
  type NewSkill,
  SkillBodies,
  SkillLimit,
  type SkillOrigin,
  type SkillWarning,
  slugOf,
} from '@app/skills';
import { Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { parsedSkill, type SentFile, sentSkill, whole } from './sent-skill';
import { SkillAccess } from './skill-access';
import { SkillTransfers } from './skill-transfers';
import { type newSkill, uploadedSkill } from './skills-schemas';

/** A new Skill, with what was not as the format wants it. */
type Created = CreatedSkill & { readonly warnings: readonly SkillWarning[] };

/** Creates Skills, as they are sent in JSON or as a file. */
@Injectable()
export class SkillCreation {
  constructor(
    private readonly commands: CommandBus,
    private readonly access: SkillAccess,
    private readonly limits: SkillLimit,
    private readonly bodies: SkillBodies,
    private readonly transfers: SkillTransfers,
    private readonly uploads: Uploads,
  ) {}

  /** Creates what a JSON body says. */
  async inline(
    caller: Caller,
    { name, publish, ...sent }: z.output<typeof newSkill>,
    meta: CommandMeta,
  ): Promise<Created> {
    const origin = await this.origin(caller, sent, 'inline');
    const content = { ...whole(sent), files: [] };
    const skill = { origin, name, slug: slugOf(name) as string, content, publish };
    return { ...(await this.commands.execute(new CreateSkill(skill, meta))), warnings: [] };
  }

  /** Creates what a multipart body holds. Rejects what is wrong with it. */
  fromFile(caller: Caller, request: FastifyRequest, meta: CommandMeta): Promise<Created> {
    const allow = (given: z.output<typeof uploadedSkill.fields>, now = caller) => this.origin(now, given, 'upload');
    return this.transfers.receive(
      caller,
      (take) => sentSkill(request, uploadedSkill, { uploads: this.uploads, most: this.transfers.most, take, allow }),
      (sent) =>
        this.transfers.read(caller, async () => {
          const { skill, warnings } = await this.stored(caller, sent, meta);
          return { ...(await this.commands.execute(new CreateSkill(skill, meta))), warnings };
        }),
    );
  }

  /** What is stored while the rest is read goes again where that is wrong. */
  private async stored(
    caller: Caller,
    { fields, file }: { readonly fields: z.output<typeof uploadedSkill.fields>; readonly file: SentFile },
    meta: CommandMeta,
  ): Promise<{ readonly skill: NewSkill; readonly warnings: readonly SkillWarning[] }> {
    const { ofVersion: limits } = this.limits;
    const { spaceId } = await this.origin(caller, fields, 'upload');
    const storing = this.bodies.begin({ skillId: createdSkillId(meta), spaceId }, file.bytes.length);
    return storing.orDiscard(async () => {
      const {
        path: _,
        warnings,
        name,
        slug,
        ...content
      } = await parsedSkill(file, limits, (each) => storing.add(each));
      const origin = await this.origin(caller, fields, 'upload');
      return { skill: { origin, name, slug, content, publish: fields.publish, storing }, warnings };
    });
  }

  private async origin(
    caller: Caller,
    { spaceId, agentId }: { readonly spaceId?: string | undefined; readonly agentId?: string | undefined },
    provider: string,
  ): Promise<SkillOrigin> {
    const asked = spaceId === undefined ? { agentId: agentId as string } : { spaceId };
    const { edits: _, ...place } = await this.access.place(caller, asked, 'editor');
    return { ...place, source: 'CUSTOM', provider, sourceId: null, creatorType: 'USER', creatorId: caller.userId };
  }
}
