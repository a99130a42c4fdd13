import { createHash } from 'node:crypto';
import { Decisions, isErased, reject, revealed } from '@app/kernel';
import { Injectable } from '@nestjs/common';
import { skillNamesDecider } from '../names/skill-names.decider';
import { SkillBodies } from '../skill/skill-bodies';
import { activeVersion, type PresentSkill, skillDecider } from '../skill/skill.decider';
import type { StoredFile } from '../skill/skill.events';
import { filesOf, hashOf, type SkillVersion } from '../skill/version';
import { isText, matchesIn, type SearchedText, wordsOf } from './search-texts';

/** Where an Agent has a Skill from. */
export type Availability = 'agent' | 'space' | 'installed' | 'default';

/** A Skill that an Agent can load, in the version that is live. */
export interface AvailableSkill {
  readonly skillId: string;
  readonly versionId: string;
  readonly slug: string;
  readonly description: string;
  readonly contentHash: string;
  readonly availability: Availability;
}

/** A reference file of a version. */
export interface LoadedFile extends Pick<StoredFile, 'mediaType' | 'sizeBytes'> {
  readonly path: string;
  readonly sha256: string;
}

/** What a published version says. */
export interface LoadedVersion extends Pick<AvailableSkill, 'slug' | 'description'> {
  readonly instructions: string;
  readonly files: readonly LoadedFile[];
}

/** A version that an answer names. */
type Pinned = Pick<AvailableSkill, 'skillId' | 'versionId'>;

/** Reads what Agents can load. Folds streams, never a view: what changes holds from the next turn. All throw `Unavailable`, and `not_found` for what is deleted. */
@Injectable()
export class LoadableSkills {
  constructor(
    private readonly decisions: Decisions,
    private readonly bodies: SkillBodies,
  ) {}

  /** The Skills of an Agent and of its Space, by slug. `skillSetHash` changes exactly when what can be loaded does. */
  async of(agent: {
    readonly agentId: string;
    readonly spaceId: string;
  }): Promise<{ readonly skills: readonly AvailableSkill[]; readonly skillSetHash: string }> {
    const { state: names } = await this.decisions.recall(skillNamesDecider, agent.spaceId);
    const held = names.valueSeq().filter(({ agentId }) => agentId === null || agentId === agent.agentId);
    const ids = [...new Set(held.map(({ skillId }) => skillId))];
    const found = await Promise.all(ids.map((skillId) => this.available(skillId)));
    const skills = found.flatMap((skill) => (skill === undefined ? [] : [skill]));
    const sorted = skills.toSorted((a, b) => (a.slug < b.slug ? -1 : 1));
    return { skills: sorted, skillSetHash: setHashOf(sorted) };
  }

  /** What a published version says. */
  async load({ skillId, versionId }: Pinned): Promise<LoadedVersion> {
    const { slug, version } = await this.versionOf(skillId, versionId);
    return {
      slug: revealed<string>(slug, ''),
      description: revealed<string>(version.description, ''),
      instructions: revealed<string>(version.instructions, ''),
      files: filesOf(version).map(loaded),
    };
  }

  /** Lines of the text files of a version that have words of the query, best first. */
  async search({ skillId, versionId }: Pinned, query: string) {
    const words = wordsOf(query);
    if (words.length === 0) return [];
    const texts = this.texts(skillId, await this.version(skillId, versionId));
    return matchesIn(texts, words);
  }

  /** The text of a file; undefined for one that is not there or no text. */
  async readFile({ skillId, versionId }: Pinned, path: string): Promise<string | undefined> {
    const file = (await this.version(skillId, versionId)).files.get(path);
    const bytes = file === undefined ? undefined : await this.bodies.read(skillId, file);
    return bytes !== undefined && isText(bytes) ? bytes.toString('utf8') : undefined;
  }

  private async *texts(skillId: string, version: SkillVersion): AsyncGenerator<SearchedText> {
    for (const file of filesOf(version)) {
      const bytes = isErased(file.path) ? undefined : await this.bodies.read(skillId, file);
      if (bytes !== undefined && isText(bytes))
        yield { path: revealed<string>(file.path, ''), text: bytes.toString('utf8') };
    }
  }

  private async available(skillId: string): Promise<AvailableSkill | undefined> {
    const { state: skill } = await this.decisions.recall(skillDecider, skillId);
    return skill.status === 'present' ? availableSkill(skillId, skill) : undefined;
  }

  private async version(skillId: string, versionId: string): Promise<SkillVersion> {
    return (await this.versionOf(skillId, versionId)).version;
  }

  private async versionOf(skillId: string, versionId: string) {
    const { state: skill } = await this.decisions.recall(skillDecider, skillId);
    const version = skill.status === 'present' ? skill.published.find(({ id }) => id === versionId) : undefined;
    return skill.status === 'present' && version !== undefined
      ? { slug: skill.slug, version }
      : reject('not_found', { kind: 'skill', id: skillId });
  }
}

const loaded = ({ path, sha256, mediaType, sizeBytes }: StoredFile): LoadedFile => ({
  path: revealed<string>(path, ''),
  sha256: revealed<string>(sha256, ''),
  mediaType,
  sizeBytes,
});

const availableSkill = (skillId: string, skill: PresentSkill): AvailableSkill | undefined => {
  const version = activeVersion(skill);
  if (version === undefined || isErased(skill.slug)) return undefined;
  return {
    skillId,
    versionId: version.id,
    slug: skill.slug,
    description: revealed<string>(version.description, ''),
    contentHash: hashOf(version),
    availability: skill.scope,
  };
};

const setHashOf = (skills: readonly AvailableSkill[]): string =>
  createHash('sha256')
    .update(JSON.stringify(skills.map(({ slug, contentHash }) => [slug, contentHash])))
    .digest('hex');
