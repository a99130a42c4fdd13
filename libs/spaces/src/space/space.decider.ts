import {
  changedFields,
  type Chunking,
  type Decider,
  givenFields,
  type KeyOwner,
  never,
  reject,
  type Sensitive,
} from '@app/kernel';
import { type Claim, assertClaims, type Forfeited, forfeiting } from '@app/reservations';
import { Map as PersistentMap, Set as PersistentSet } from 'immutable';
import type { SpaceEvent, SpaceRole } from './space.events';

interface PresentFields {
  readonly kind: 'team' | 'personal';
  readonly name: Sensitive<string>;
  readonly slug: Sensitive<string>;
  readonly description: Sensitive<string>;
  readonly color: string;
  readonly chunking: Chunking | null;
  readonly nameClaim?: Claim;
  readonly slugClaim?: Claim;
  /** Role of each member, by user id. */
  readonly members: PersistentMap<string, SpaceRole>;
}

interface Memory {
  readonly forfeited: Forfeited;
}

/** State of a Space. */
export type Space = Memory &
  ({ readonly status: 'absent' | 'deleted' } | ({ readonly status: 'present' } & PresentFields));
/** A Space that is there. */
export type PresentSpace = Extract<Space, PresentFields>;

/** What its owners write of a Space. */
export interface SpaceFields {
  readonly name: string;
  readonly slug: string;
  readonly description: string;
  readonly color: string;
  /** Null or absent: the product's default. */
  readonly chunking?: Chunking | null;
}

/** The claims to name and slug of a team Space: new ones, or those that the Space had when the command began. */
interface Claims {
  readonly nameClaim?: Claim;
  readonly slugClaim?: Claim;
}

/** What can be asked of a Space. */
export type SpaceCommand =
  | ({
      readonly type: 'Create';
      readonly spaceId: string;
      readonly kind: 'team' | 'personal';
      readonly ownerId: string;
      readonly fields: SpaceFields;
    } & Claims)
  | ({ readonly type: 'Update'; readonly fields: Partial<SpaceFields> } & Claims)
  | { readonly type: 'SetMember'; readonly userId: string; readonly role: SpaceRole }
  | { readonly type: 'RemoveMember'; readonly userId: string }
  /** The user is deleted, so they leave even as the last owner. Admins can name another. */
  | { readonly type: 'ForgetMember'; readonly userId: string }
  /** `withUser`: the owner of a personal Space is deleted. Otherwise a personal Space cannot be deleted. */
  | { readonly type: 'Delete'; readonly withUser?: boolean }
  | { readonly type: 'ForfeitClaim'; readonly claim: Claim };

export const spaceDecider: Decider<Space, SpaceCommand, SpaceEvent> = {
  category: 'space',
  initial: { status: 'absent', forfeited: PersistentSet() },

  decide: (command, space) => {
    switch (command.type) {
      case 'Create':
        return create(command, space);
      case 'Update':
        return change(command, present(space));
      case 'SetMember':
        return setMember(command, shared(present(space)));
      case 'RemoveMember':
        return removeMember(command.userId, shared(present(space)));
      case 'ForgetMember':
        return space.status === 'present' && space.kind === 'team' ? removed(command.userId, space) : [];
      case 'Delete':
        return remove(command, space);
      case 'ForfeitClaim':
        return forfeit(command.claim, space);
      default:
        return never(command);
    }
  },

  evolve: (space, event) => {
    if (event.type === 'ClaimForfeited') return { ...space, forfeited: forfeiting(space.forfeited, [event.data]) };
    if (event.type === 'SpaceCreated') {
      const { spaceId: _, ownerId, ...fields } = event.data;
      return {
        status: 'present',
        forfeited: space.forfeited,
        ...givenFields({ ...fields, chunking: fields.chunking ?? null }),
        members: PersistentMap([[ownerId, 'owner' as const]]),
      };
    }
    if (space.status !== 'present') return space;
    switch (event.type) {
      case 'SpaceChanged': {
        const { released, ...fields } = event.data;
        return { ...space, ...givenFields(fields), forfeited: forfeiting(space.forfeited, released) };
      }
      case 'SpaceMemberAdded':
      case 'SpaceMemberRoleChanged':
        return { ...space, members: space.members.set(event.data.userId, event.data.role) };
      case 'SpaceMemberRemoved':
        return { ...space, members: space.members.delete(event.data.userId) };
      case 'SpaceDeleted':
        return { status: 'deleted', forfeited: space.forfeited };
      default:
        return never(event);
    }
  },

  owner: (event) => (event.type === 'SpaceCreated' ? ownerOf(event.data) : {}),
};

/** The content of a personal Space is deleted with its user. */
const ownerOf = ({
  spaceId,
  kind,
  ownerId,
}: {
  readonly spaceId: string;
  readonly kind: string;
  readonly ownerId: string;
}): KeyOwner => (kind === 'personal' ? { spaceId, userId: ownerId } : { spaceId });

type Of<Type extends SpaceCommand['type']> = Extract<SpaceCommand, { readonly type: Type }>;

const create = ({ type: _type, fields, ...given }: Of<'Create'>, space: Space): readonly SpaceEvent[] => {
  if (space.status === 'present')
    return space.kind === given.kind && space.members.has(given.ownerId)
      ? []
      : reject('conflict', { reason: 'exists' });
  if (space.status === 'deleted') return given.kind === 'personal' ? [] : reject('not_found');
  assertClaims([given.nameClaim, given.slugClaim], space.forfeited);
  return [{ type: 'SpaceCreated', data: { ...given, ...fields } }];
};

const change = (command: Of<'Update'>, space: PresentSpace): readonly SpaceEvent[] => {
  const fields = changedFields(command.fields, space);
  if (Object.keys(fields).length === 0) return [];
  const name = moved(command.nameClaim, space.nameClaim);
  const slug = moved(command.slugClaim, space.slugClaim);
  assertClaims([name.claim, slug.claim], space.forfeited);
  const claims = givenFields({ nameClaim: name.claim, slugClaim: slug.claim });
  return [{ type: 'SpaceChanged', data: { ...fields, ...claims, released: [...name.released, ...slug.released] } }];
};

/** Names that only differ in appearance share a reservation. */
const moved = (
  claim: Claim | undefined,
  held: Claim | undefined,
): { readonly claim: Claim | undefined; readonly released: readonly Claim[] } =>
  claim === undefined || claim.key === held?.key
    ? { claim: undefined, released: [] }
    : { claim, released: held === undefined ? [] : [held] };

const setMember = ({ userId, role }: Of<'SetMember'>, space: PresentSpace): readonly SpaceEvent[] => {
  const current = space.members.get(userId);
  if (current === undefined)
    return [{ type: 'SpaceMemberAdded', data: { userId, role, memberCount: space.members.size + 1 } }];
  if (current === role) return [];
  return isLastOwner(userId, space)
    ? reject('last_owner')
    : [{ type: 'SpaceMemberRoleChanged', data: { userId, role } }];
};

const removeMember = (userId: string, space: PresentSpace): readonly SpaceEvent[] =>
  isLastOwner(userId, space) ? reject('last_owner') : removed(userId, space);

const removed = (userId: string, space: PresentSpace): readonly SpaceEvent[] =>
  space.members.has(userId)
    ? [{ type: 'SpaceMemberRemoved', data: { userId, memberCount: space.members.size - 1 } }]
    : [];

const isLastOwner = (userId: string, space: PresentSpace): boolean => {
  const owners = [...space.members].filter(([, role]) => role === 'owner');
  return owners.length === 1 && owners[0]?.[0] === userId;
};

const remove = ({ withUser }: Of<'Delete'>, space: Space): readonly SpaceEvent[] => {
  if (space.status === 'deleted' || (space.status === 'absent' && withUser === true)) return [];
  if (present(space).kind === 'personal' && withUser !== true) return reject('conflict', { reason: 'personal_space' });
  return [{ type: 'SpaceDeleted', data: { released: [...claimsOf(space)] } }];
};

const forfeit = (claim: Claim, space: Space): readonly SpaceEvent[] => {
  if (claimsOf(space).some(({ key }) => key === claim.key)) return reject('name_taken');
  return space.status === 'deleted' || space.forfeited.has(claim.ticket)
    ? []
    : [{ type: 'ClaimForfeited', data: claim }];
};

/** A personal Space has only its owner. */
const shared = (space: PresentSpace): PresentSpace =>
  space.kind === 'team' ? space : reject('conflict', { reason: 'personal_space' });

/** The claims to the names of a Space. */
export const claimsOf = (space: Space): readonly Claim[] =>
  space.status === 'present' ? [space.nameClaim, space.slugClaim].filter((claim) => claim !== undefined) : [];

const present = (space: Space): PresentSpace => (space.status === 'present' ? space : reject('not_found'));
