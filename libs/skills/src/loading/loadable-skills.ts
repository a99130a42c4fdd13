import { createHash } from 'node:crypto';
import { Decisions, isErased, type Position, reject, revealed, type Sensitive, streamOf } from '@app/kernel';
import { Injectable } from '@nestjs/common';
import { DefaultSkills } from '../defaults/default-skills';
import { entryDecider, latestVersion, type PresentEntry } from '../marketplace/entry.decider';
import { installationDecider, type PresentInstallation } from '../marketplace/installation.decider';
import { skillNamesDecider } from '../names/skill-names.decider';
import { SkillBodies, skillStream } from '../skill/skill-bodies';
import { activeVersion, skillDecider } from '../skill/skill.decider';
import type { StoredFile } from '../skill/skill.events';
import { filesOf, hashOf, loadedHashOf, type SkillVersion } from '../skill/version';
import { isText, matchesIn, type SearchedFile, wordsOf } from './search-texts';

/** Where an Agent has a Skill from. */
export type Availability = 'agent' | 'space' | 'installed' | 'default';

/** A Skill that an Agent can load, in the version that is live. */
export interface AvailableSkill {
  readonly skillId: string;
  readonly versionId: string;
  readonly slug: string;
  readonly description: string;
  readonly contentHash: string;
  /** Of what can be loaded of it. */
  readonly loadedHash: string;
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

/** An entry of the marketplace or of the operator's folder, and a version that Agents load of it. */
export interface ListedSkill {
  readonly entryId: string;
  readonly entry: PresentEntry;
  /** The one that is pinned, or the newest. */
  readonly version: SkillVersion;
  /** Of the entry. */
  readonly revision: number;
  /** Of its last event. */
  readonly position: Position;
}

/** An entry as it is installed. */
export interface InstalledSkill extends ListedSkill {
  readonly installationId: string;
  readonly installation: PresentInstallation;
}

interface Place {
  readonly spaceId: string;
  readonly agentId: string | null;
}

/** A version, and the stream under whose key its files are. */
interface HeldVersion {
  readonly stream: string;
  readonly slug: Sensitive<string>;
  readonly version: SkillVersion;
}

/** Reads what Agents can load. Folds streams, never a view: what changes holds from the next turn. All throw `Unavailable`, and `not_found` for what is deleted. */
@Injectable()
export class LoadableSkills {
  constructor(
    private readonly decisions: Decisions,
    private readonly bodies: SkillBodies,
    private readonly defaults: DefaultSkills,
  ) {}

  /** The Skills of an Agent and of its Space, what is installed for them, and of the default ones those whose slug none of them has, by slug. `skillSetHash` changes exactly when what can be loaded does. */
  async of(agent: {
    readonly agentId: string;
    readonly spaceId: string;
  }): Promise<{ readonly skills: readonly AvailableSkill[]; readonly skillSetHash: string }> {
    const { own, installed } = await this.bearers(agent.spaceId, (of) => of === null || of === agent.agentId);
    const found = await Promise.all([
      ...own.map((skillId) => this.available(skillId)),
      ...installed.map(async (installationId) => available(await this.installation(installationId), 'installed')),
    ]);
    const placed = found.flatMap((skill) => (skill === undefined ? [] : [skill]));
    const taken = new Set(placed.map(({ slug }) => slug));
    const defaults = (await this.defaultSkills()).flatMap((each) => available(each, 'default') ?? []);
    const skills = [...placed, ...defaults.filter(({ slug }) => !taken.has(slug))];
    const sorted = skills.toSorted((a, b) => (a.slug < b.slug ? -1 : 1));
    return { skills: sorted, skillSetHash: setHashOf(sorted) };
  }

  /** What is installed for a Space (`agentId` null) or an Agent alone. */
  async installed({ spaceId, agentId }: Place): Promise<readonly InstalledSkill[]> {
    const { installed } = await this.bearers(spaceId, (of) => of === agentId);
    const found = await Promise.all(installed.map((installationId) => this.installation(installationId)));
    return found.flatMap((each) => (each === undefined ? [] : [each]));
  }

  /** The Skills of the operator's folder, also those that give way to others. */
  async defaultSkills(): Promise<readonly ListedSkill[]> {
    const found = await Promise.all(this.defaults.entryIds.map((entryId) => this.listed(entryId, null)));
    return found.flatMap((each) => each ?? []);
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
    const held = await this.versionOf(skillId, versionId);
    return matchesIn(
      filesOf(held.version).map((file) => this.searched(held.stream, file)),
      words,
    );
  }

  /** The text of a file; undefined for one that is not there or no text. */
  async readFile({ skillId, versionId }: Pinned, path: string): Promise<string | undefined> {
    const { stream, version } = await this.versionOf(skillId, versionId);
    const file = version.files.get(path);
    return file && this.textOf(stream, file);
  }

  private searched(stream: string, file: StoredFile): SearchedFile {
    return { path: revealed<string>(file.path, ''), read: () => this.textOf(stream, file) };
  }

  /** Undefined for what is no text, or gone. */
  private async textOf(stream: string, file: StoredFile): Promise<string | undefined> {
    const bytes = isErased(file.path) ? undefined : await this.bodies.read(stream, file);
    return bytes !== undefined && isText(bytes) ? bytes.toString('utf8') : undefined;
  }

  /** Ids of what bears a name in a Space, where it is available. */
  private async bearers(spaceId: string, where: (agentId: string | null) => boolean) {
    const { state: names } = await this.decisions.recall(skillNamesDecider, spaceId);
    const held = names.valueSeq().toArray();
    const ids = (isInstalled: boolean): readonly string[] => {
      const wanted = held.filter((each) => where(each.agentId) && (each.entryId !== undefined) === isInstalled);
      return [...new Set(wanted.map(({ skillId }) => skillId))];
    };
    return { own: ids(false), installed: ids(true) };
  }

  private async available(skillId: string): Promise<AvailableSkill | undefined> {
    const { state: skill } = await this.decisions.recall(skillDecider, skillId);
    if (skill.status !== 'present') return undefined;
    const { slug, scope: availability } = skill;
    return availableSkill({ skillId, slug, version: activeVersion(skill), availability });
  }

  private async installation(installationId: string): Promise<InstalledSkill | undefined> {
    const { state: installation } = await this.decisions.recall(installationDecider, installationId);
    if (installation.status !== 'present') return undefined;
    const listed = await this.listed(installation.entryId, installation.versionId);
    return listed && { ...listed, installationId, installation };
  }

  private async listed(entryId: string, versionId: string | null): Promise<ListedSkill | undefined> {
    const { state: entry, revision, position } = await this.decisions.recall(entryDecider, entryId);
    if (entry.status === 'absent' || position === null) return undefined;
    const pinned = entry.versions.find(({ id }) => id === versionId);
    return { entryId, entry, version: pinned ?? latestVersion(entry), revision, position };
  }

  /** A published version of a Skill, or of an entry of the marketplace. */
  private async versionOf(skillId: string, versionId: string): Promise<HeldVersion> {
    const { state: skill } = await this.decisions.recall(skillDecider, skillId);
    const own = skill.status === 'present' ? skill.published.find(({ id }) => id === versionId) : undefined;
    if (skill.status === 'present' && own !== undefined)
      return { stream: skillStream(skillId), slug: skill.slug, version: own };
    const { state: entry } = await this.decisions.recall(entryDecider, skillId);
    const listed = entry.status === 'absent' ? undefined : entry.versions.find(({ id }) => id === versionId);
    return entry.status !== 'absent' && listed !== undefined
      ? { stream: streamOf(entryDecider.category, skillId), slug: entry.slug, version: listed }
      : reject('not_found', { kind: 'skill', id: skillId });
  }
}

const loaded = ({ path, sha256, mediaType, sizeBytes }: StoredFile): LoadedFile => ({
  path: revealed<string>(path, ''),
  sha256: revealed<string>(sha256, ''),
  mediaType,
  sizeBytes,
});

const available = (listed: ListedSkill | undefined, availability: Availability): AvailableSkill | undefined =>
  listed && availableSkill({ skillId: listed.entryId, slug: listed.entry.slug, version: listed.version, availability });

const availableSkill = ({
  skillId,
  slug,
  version,
  availability,
}: {
  readonly skillId: string;
  readonly slug: Sensitive<string>;
  readonly version: SkillVersion | undefined;
  readonly availability: Availability;
}): AvailableSkill | undefined => {
  if (version === undefined || isErased(slug)) return undefined;
  const description = revealed<string>(version.description, '');
  return {
    skillId,
    versionId: version.id,
    slug,
    description,
    contentHash: hashOf(version),
    loadedHash: loadedHashOf(version),
    availability,
  };
};

const setHashOf = (skills: readonly AvailableSkill[]): string =>
  createHash('sha256')
    .update(JSON.stringify(skills.map(({ slug, loadedHash }) => [slug, loadedHash])))
    .digest('hex');
