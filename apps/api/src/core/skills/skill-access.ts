import { Access, type Caller } from '@app/access';
import { InvalidInput } from '@app/http';
import { Decisions, isDomainError, isErased, reject, type Sensitive, streamOf } from '@app/kernel';
import {
  activeVersion,
  entryDecider,
  latestVersion,
  type PresentSkill,
  type Skill,
  skillDecider,
  skillStream,
  type SkillVersion,
  versionsOf,
} from '@app/skills';
import { Injectable } from '@nestjs/common';
import type { ShownSkill } from './skills-schemas';

/** A Skill that a caller may see. */
export interface SeenSkill {
  readonly skillId: string;
  readonly skill: PresentSkill;
  readonly revision: number;
  /** Whether they may change it, and so see its draft. */
  readonly edits: boolean;
}

/** The versions that a caller may see of a Skill, or of one of the marketplace, oldest first. */
export interface SeenVersions {
  /** Whose key their files have. */
  readonly stream: string;
  readonly name: Sensitive<string>;
  readonly slug: Sensitive<string>;
  readonly activeVersionId: string | null;
  /** Of the Skill or entry. */
  readonly revision: number;
  readonly versions: readonly SkillVersion[];
}

/** Where a Skill is to be available. */
export interface SkillPlace {
  readonly scope: 'space' | 'agent';
  readonly spaceId: string;
  readonly agentId: string | null;
}

/** Who may see and change Skills: viewers of its place what is published, editors all. To others a Skill is unknown. */
@Injectable()
export class SkillAccess {
  constructor(
    private readonly access: Access,
    private readonly decisions: Decisions,
  ) {}

  /** A place in which a caller may have Skills. Rejects as `Access` does. */
  async place(
    caller: Caller,
    asked: { readonly spaceId: string } | { readonly agentId: string },
    need: 'viewer' | 'editor',
  ): Promise<SkillPlace & { readonly edits: boolean }> {
    if ('spaceId' in asked) {
      const { spaceId, role } = await this.access.content(caller, asked.spaceId, need);
      return { scope: 'space', spaceId, agentId: null, edits: role !== 'viewer' };
    }
    const { spaceId, agentId, role } = await this.access.agent(
      caller,
      asked.agentId,
      need === 'editor' ? 'edit' : 'use',
    );
    return { scope: 'agent', spaceId, agentId, edits: role !== 'viewer' };
  }

  /** Rejects `not_found` alike for what is unknown, deleted, elsewhere, or not published and not the caller's to edit. */
  async read(caller: Caller, skillId: string): Promise<SeenSkill> {
    const unknown = (): never => reject('not_found', { kind: 'skill', id: skillId });
    const { state, revision } = await this.decisions.recall(skillDecider, skillId);
    const skill = present(state) ?? unknown();
    const { agentId, spaceId } = skill;
    const place = await this.place(caller, agentId === null ? { spaceId } : { agentId }, 'viewer').catch(
      (error: unknown) => {
        if (isDomainError(error)) return unknown();
        throw error;
      },
    );
    if (!place.edits && skill.activeVersionId === null) return unknown();
    return { skillId, skill, revision, edits: place.edits };
  }

  /** As `read`; those of the marketplace are everybody's to read. */
  async versions(caller: Caller, skillId: string): Promise<SeenVersions> {
    const { state: entry, revision } = await this.decisions.recall(entryDecider, skillId);
    if (entry.status !== 'absent') {
      const { name, slug } = entry;
      const stream = streamOf(entryDecider.category, skillId);
      const { id: activeVersionId } = latestVersion(entry);
      return { stream, name, slug, activeVersionId, revision, versions: entry.versions.toArray() };
    }
    const { skill, edits, revision: ofSkill } = await this.read(caller, skillId);
    const { name, slug, activeVersionId } = skill;
    const versions = edits ? versionsOf(skill) : skill.published.toArray();
    return { stream: skillStream(skillId), name, slug, activeVersionId, revision: ofSkill, versions };
  }

  /** As `read`; rejects `forbidden` to those who may only read. */
  async change(caller: Caller, skillId: string): Promise<SeenSkill> {
    const seen = await this.read(caller, skillId);
    const { agentId, spaceId } = seen.skill;
    await this.place(caller, agentId === null ? { spaceId } : { agentId }, 'editor');
    return seen;
  }
}

/** One of both. Throws `InvalidInput` for none and for two. */
export const placeAsked = (
  spaceId: string | undefined,
  agentId: string | undefined,
): { readonly spaceId: string } | { readonly agentId: string } => {
  if (spaceId !== undefined && agentId === undefined) return { spaceId };
  if (agentId !== undefined && spaceId === undefined) return { agentId };
  throw new InvalidInput('invalid_parameter', [
    { path: 'spaceId', code: 'required', message: 'Give one of spaceId and agentId.' },
  ]);
};

const present = (skill: Skill): PresentSkill | undefined => (skill.status === 'present' ? skill : undefined);

/** Empty where it was erased. */
export const textOf = (value: unknown): string => (isErased(value) || typeof value !== 'string' ? '' : value);

/** A Skill as its stream says, to the reader. */
export const shownSkill = ({ skillId, skill, revision, edits }: SeenSkill): ShownSkill => {
  const active = activeVersion(skill);
  const { scope, spaceId, agentId, source, provider, sourceId, creatorType, creatorId } = skill;
  return {
    id: skillId,
    name: textOf(skill.name),
    slug: textOf(skill.slug),
    scope,
    spaceId,
    agentId,
    source,
    provider,
    sourceId,
    creatorType,
    creatorId,
    status: active === undefined ? 'draft' : 'published',
    activeVersionId: skill.activeVersionId,
    description: active === undefined ? null : textOf(active.description),
    draftDescription: skill.draft === null ? null : textOf(skill.draft.description),
    hasDraft: edits && skill.draft !== null,
    createdAt: skill.createdAt,
    updatedAt: skill.updatedAt,
    revision,
  };
};

/** One of them; `draft` is the draft. Rejects `not_found` for a foreign one, and for the draft before viewers. */
export const versionAmong = ({ versions }: SeenVersions, versionId: string): SkillVersion =>
  versions.find(({ id, publishedAt }) => (versionId === 'draft' ? publishedAt === null : id === versionId)) ??
  reject('not_found', { kind: 'skillVersion', id: versionId });
