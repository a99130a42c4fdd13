import type { InstalledSkill, LoadableSkills } from '@app/skills';
import type { StoredRow } from '@app/read-store';
import { placeOfSkills, type SkillRow } from '@projections/skills';
import { type SkillPlace, textOf } from './skill-access';

/** What is installed for a Space, or for an Agent and its Space, as rows of the list of Skills. */
export const installedRows = async (
  loadable: LoadableSkills,
  { spaceId, agentId }: SkillPlace,
): Promise<readonly StoredRow<SkillRow>[]> => {
  const places = agentId === null ? [null] : [agentId, null];
  const found = await Promise.all(places.map((of) => loadable.installed({ spaceId, agentId: of })));
  return found.flat().map(installedRow);
};

/** An entry of the marketplace in the shape of a Skill of the place where it is installed. */
const installedRow = ({ installationId: key, installation, entry, version, revision, position }: InstalledSkill) => {
  const { entryId: id, scope, spaceId, agentId, createdAt } = installation;
  const row: SkillRow = {
    id,
    name: textOf(entry.name),
    slug: textOf(entry.slug),
    scope,
    spaceId,
    agentId,
    place: placeOfSkills(agentId === null ? { spaceId } : { agentId }),
    source: 'MARKETPLACE',
    provider: 'marketplace',
    sourceId: entry.sourceId,
    creatorType: 'USER',
    creatorId: entry.listedBy,
    status: entry.status,
    activeVersionId: version.id,
    description: textOf(version.description),
    draftDescription: null,
    hasDraft: false,
    createdAt,
    updatedAt: entry.updatedAt,
    revision,
  };
  return { key, row, position, size: JSON.stringify(row).length };
};
