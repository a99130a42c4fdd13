import type { InstalledSkill, ListedSkill, LoadableSkills } from '@app/skills';
import type { StoredRow } from '@app/read-store';
import { placeOfSkills, type SkillRow } from '@projections/skills';
import { type SkillPlace, textOf } from './skill-access';

/** What stands in the list of Skills of a Space or an Agent beside its own: what is installed there, and for an Agent the default ones. */
export const listedRows = async (
  loadable: LoadableSkills,
  place: SkillPlace,
): Promise<readonly StoredRow<SkillRow>[]> => {
  const { spaceId, agentId } = place;
  const places = agentId === null ? [null] : [agentId, null];
  const installed = await Promise.all(places.map((of) => loadable.installed({ spaceId, agentId: of })));
  const rows = installed.flat().map(installedRow);
  if (agentId === null) return rows;
  const { skills } = await loadable.of({ agentId, spaceId });
  const shown = new Set(skills.map(({ skillId }) => skillId));
  const defaults = (await loadable.defaultSkills()).filter(({ entryId }) => shown.has(entryId));
  return [...rows, ...defaults.map((each) => defaultRow(each, spaceId))];
};

const installedRow = (installed: InstalledSkill): StoredRow<SkillRow> => {
  const { scope, spaceId, agentId, createdAt } = installed.installation;
  const of = { source: 'MARKETPLACE', provider: 'marketplace', creatorType: 'USER' } as const;
  return rowOf(installed, installed.installationId, { ...of, scope, spaceId, agentId, createdAt });
};

/** As if it were of the Space: each has it. */
const defaultRow = (skill: ListedSkill, spaceId: string): StoredRow<SkillRow> => {
  const of = { source: 'DEFAULT', provider: 'folder', creatorType: 'PLATFORM' } as const;
  return rowOf(skill, skill.entryId, {
    ...of,
    scope: 'space',
    spaceId,
    agentId: null,
    createdAt: skill.entry.createdAt,
  });
};

const rowOf = (
  { entryId: id, entry, version, revision, position }: ListedSkill,
  key: string,
  at: Pick<SkillRow, 'source' | 'provider' | 'creatorType' | 'scope' | 'spaceId' | 'agentId' | 'createdAt'>,
): StoredRow<SkillRow> => {
  const { spaceId, agentId } = at;
  const row: SkillRow = {
    id,
    name: textOf(entry.name),
    slug: textOf(entry.slug),
    ...at,
    place: placeOfSkills(agentId === null ? { spaceId } : { agentId }),
    sourceId: entry.sourceId,
    creatorId: entry.listedBy,
    status: entry.status,
    activeVersionId: version.id,
    description: textOf(version.description),
    draftDescription: null,
    hasDraft: false,
    updatedAt: entry.updatedAt,
    revision,
  };
  return { key, row, position, size: JSON.stringify(row).length };
};
