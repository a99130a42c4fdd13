import { type Decider, type Facts, never, reject } from '@app/kernel';
import { Map as PersistentMap } from 'immutable';
import type { SkillNameEvent } from './skill-names.events';

/** A name and slug that a Skill holds in a Space. */
export interface TakenName {
  readonly skillId: string;
  /** Null: it is the Space's, for all its Agents. */
  readonly agentId: string | null;
  readonly ticket: string;
  /** Keyed hashes. */
  readonly name: string;
  readonly slug: string;
  /** The entry of the marketplace that it is an installation of, whose id `skillId` is then. */
  readonly entryId?: string;
}

/** What a Space's registry holds, by ticket. `at`: since when, ISO 8601 UTC. */
export type SkillNames = PersistentMap<string, TakenName & { readonly at: string }>;

export type SkillNameCommand =
  /** `most`: how many Skills a place may have. */
  | ({ readonly type: 'Take'; readonly most: number } & TakenName)
  | { readonly type: 'Release'; readonly ticket: string };

/**
 * The names of the Skills of one Space and of its Agents, so that which of them are free is one decision on one stream,
 * `skillNames-<spaceId>`. Rejects `name_taken`, and `conflict` where the place is full.
 */
export const skillNamesDecider: Decider<SkillNames, SkillNameCommand, SkillNameEvent> = {
  category: 'skillNames',
  initial: PersistentMap(),
  decide: (command, names) => {
    const held = names.get(command.ticket);
    switch (command.type) {
      case 'Take': {
        if (held !== undefined) return [];
        const { type: _, most, ...wanted } = command;
        const inTheWay = inTheWayOf(wanted, names);
        if (inTheWay.length > 0) return reject('name_taken', whyTaken(wanted, inTheWay));
        const others = new Set(inPlaceOf(wanted, names).map(({ skillId }) => skillId));
        others.delete(wanted.skillId);
        if (others.size >= most) return reject('conflict', { reason: 'skills_full' });
        return [{ type: 'SkillNameTaken', data: wanted }];
      }
      case 'Release':
        return held === undefined
          ? []
          : [{ type: 'SkillNameReleased', data: { skillId: held.skillId, ticket: held.ticket } }];
      default:
        return never(command);
    }
  },
  evolve: (names, event) =>
    event.type === 'SkillNameTaken'
      ? names.set(event.data.ticket, { ...event.data, at: event.context.recordedAt })
      : names.delete(event.data.ticket),
};

/** A slug stays when its Skill is renamed, and several names give the same: it may be taken where the name is free. Whoever installs can choose neither. */
const whyTaken = (wanted: TakenName, others: readonly TakenName[]): Facts => {
  const isOfName = others.some(({ name }) => name === wanted.name);
  if (wanted.entryId === undefined) return { path: 'name', ...(isOfName ? {} : { reason: 'slug_taken' }) };
  if (others.some(({ entryId }) => entryId === wanted.entryId)) return { reason: 'installed' };
  return { reason: isOfName ? 'entry_name_taken' : 'entry_slug_taken' };
};

/** The Skills that bear a name or slug where this one would. A Space's shares neither with those of its Agents; two Agents may. */
export const inTheWayOf = (wanted: TakenName, names: SkillNames) =>
  names
    .valueSeq()
    .filter(
      ({ skillId, agentId, name, slug }) =>
        skillId !== wanted.skillId &&
        (name === wanted.name || slug === wanted.slug) &&
        (agentId === null || wanted.agentId === null || agentId === wanted.agentId),
    )
    .toArray();

export const inPlaceOf = ({ agentId }: Pick<TakenName, 'agentId'>, names: SkillNames) =>
  names
    .valueSeq()
    .filter((other) => other.agentId === agentId)
    .toArray();
