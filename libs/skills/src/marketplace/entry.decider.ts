import { type Decider, deriveId, never, ownedByNobody, reject, type Sensitive } from '@app/kernel';
import { List } from 'immutable';
import { changedContent, emptyContent, hashOf, type SkillVersion } from '../skill/version';
import type { EntryEvent } from './entry.events';

type Listed = Extract<EntryEvent, { type: 'SkillListed' }>['data'];
/** A version as it is to be listed. */
export type NewListing = Omit<Listed, 'number'>;

/** An entry of the marketplace; `listedBy` is null where no user listed it. */
export interface PresentEntry {
  readonly status: 'published' | 'archived';
  readonly name: Sensitive<string>;
  readonly slug: Sensitive<string>;
  /** Null: a Skill of the operator's folder, which is none of the marketplace. */
  readonly sourceId: string | null;
  readonly listedBy: string | null;
  /** Oldest first; never empty. */
  readonly versions: List<SkillVersion>;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** State of an entry of the marketplace. */
export type Entry = { readonly status: 'absent' } | PresentEntry;

/** What can be asked of an entry. */
export type EntryCommand =
  /** `number` and, after the first, `name` and `slug` are the entry's own. */
  | { readonly type: 'List'; readonly version: NewListing; readonly acceptFindings: boolean }
  | { readonly type: 'Archive'; readonly userId: string }
  | { readonly type: 'Restore'; readonly userId: string };

/** The entry of a Skill: one for each Skill, so that listing it again meets the entry that is there. */
export const entryIdOf = (skillId: string): string => deriveId(skillId, 'marketplace');

/** A Skill of the marketplace: copies of published versions of one Skill, which outlive it. Archived, never deleted. */
export const entryDecider: Decider<Entry, EntryCommand, EntryEvent> = {
  category: 'skillEntry',
  initial: { status: 'absent' },
  decide: (command, entry) => {
    if (command.type === 'List') return list(command, entry);
    if (entry.status === 'absent') return reject('not_found');
    switch (command.type) {
      case 'Archive':
        return entry.status === 'archived' ? [] : [{ type: 'SkillArchived', data: { archivedBy: command.userId } }];
      case 'Restore':
        return entry.status === 'published' ? [] : [{ type: 'SkillRestored', data: { restoredBy: command.userId } }];
      default:
        return never(command);
    }
  },
  evolve: (entry, event) => {
    const at = event.context.recordedAt;
    if (event.type === 'SkillListed') {
      const { name, slug, sourceId, listedBy } = event.data;
      const first = {
        status: 'published' as const,
        name,
        slug,
        sourceId,
        listedBy,
        versions: List<SkillVersion>(),
        createdAt: at,
      };
      const before: Omit<PresentEntry, 'updatedAt'> = entry.status === 'absent' ? first : entry;
      return { ...before, versions: before.versions.push(versionIn(event.data, at)), updatedAt: at };
    }
    if (entry.status === 'absent') return entry;
    return { ...entry, status: event.type === 'SkillArchived' ? 'archived' : 'published', updatedAt: at };
  },
  // It outlives the Skill, its Space and who listed it.
  owner: ownedByNobody,
};

/** The version that installations have which follow the entry. */
export const latestVersion = ({ versions }: PresentEntry): SkillVersion => versions.last() as SkillVersion;

const list = (
  { version, acceptFindings }: Extract<EntryCommand, { type: 'List' }>,
  entry: Entry,
): readonly EntryEvent[] => {
  if (entry.status !== 'absent') {
    if (entry.status === 'archived') return reject('conflict', { reason: 'archived' });
    if (hashOf(latestVersion(entry)) === version.contentHash) return [];
  }
  const rules = [...version.findings, ...version.files.flatMap(({ findings }) => findings)].map(({ rule }) => rule);
  if (rules.length > 0 && !acceptFindings)
    return reject('findings_not_accepted', { rules: [...new Set(rules)].join(', ') });
  const own = entry.status === 'absent' ? version : { ...version, name: entry.name, slug: entry.slug };
  const number = entry.status === 'absent' ? 1 : entry.versions.size + 1;
  return [{ type: 'SkillListed', data: { ...own, number } as Listed }];
};

const versionIn = (data: Listed, at: string): SkillVersion => {
  const { versionId, number, listedBy, description, instructions, frontmatter, findings, files, contentHash } = data;
  return {
    ...changedContent(emptyContent, { description, instructions, frontmatter, findings, files }),
    id: versionId,
    number,
    basedOn: null,
    createdBy: listedBy,
    createdAt: at,
    publishedAt: at,
    contentHash,
  };
};
