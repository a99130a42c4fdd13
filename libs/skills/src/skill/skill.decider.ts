import { type Decider, type EventsOf, never, reject, type Sensitive } from '@app/kernel';
import { assertClaims, type Claim, claimForfeited, type Forfeited, forfeiting } from '@app/reservations';
import { List, Set as PersistentSet } from 'immutable';
import { changedDraft, firstDraft, savedDraft } from './draft';
import type { SkillEvent, SkillScope, SkillSource } from './skill.events';
import { bodiesOf, bodiesOnlyIn, type DraftChange, hashOf, type SkillVersion } from './version';

type StoredEvent = SkillEvent | EventsOf<readonly [typeof claimForfeited]>;

/** What a Skill is from the beginning. */
export interface SkillOrigin {
  readonly scope: SkillScope;
  readonly spaceId: string;
  readonly agentId: string | null;
  readonly source: SkillSource;
  readonly provider: string;
  readonly sourceId: string | null;
  readonly creatorType: 'PLATFORM' | 'USER';
  readonly creatorId: string | null;
}

/** A Skill that is there; null without a draft, or without an active version. */
export interface PresentSkill extends SkillOrigin {
  readonly status: 'present';
  readonly name: Sensitive<string>;
  readonly slug: Sensitive<string>;
  /** Its claim to its name. */
  readonly ticket: string;
  readonly forfeited: Forfeited;
  readonly draft: SkillVersion | null;
  /** Oldest first. */
  readonly published: List<SkillVersion>;
  readonly activeVersionId: string | null;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** State of a Skill. */
export type Skill =
  { readonly status: 'absent'; readonly forfeited: Forfeited } | { readonly status: 'deleted' } | PresentSkill;

/** What one version may take. */
export interface VersionLimits {
  readonly files: number;
  readonly bytes: number;
}

/** A change of the draft that begins as `versionId` where there is none. */
export interface SavingDraft {
  readonly versionId: string;
  readonly savedBy: string | null;
  readonly change: DraftChange;
  /** `change` is all that the draft has from then on. */
  readonly whole?: true;
  /** Bodies of files in `change` that the Skill had when they were looked at. Rejects `conflict` where it has lost one since. */
  readonly reused?: readonly string[];
  readonly limits: VersionLimits;
}

/** What can be asked of a Skill. */
export type SkillCommand =
  | {
      readonly type: 'Create';
      readonly origin: SkillOrigin;
      readonly name: string;
      readonly slug: string;
      readonly ticket: string;
      readonly draft: SavingDraft;
      readonly publish: boolean;
    }
  | {
      readonly type: 'Change';
      readonly rename?: { readonly name: string; readonly ticket: string };
      readonly draft?: SavingDraft;
      readonly publish?: boolean;
    }
  | { readonly type: 'DiscardDraft'; readonly versionId: string }
  /** `versionId`: the draft. */
  | { readonly type: 'Publish'; readonly versionId: string }
  | { readonly type: 'Activate'; readonly versionId: string }
  | { readonly type: 'Delete' }
  | { readonly type: 'ForfeitClaim'; readonly claim: Claim };

/** A Skill and its versions: at most one draft, and those that were published, of which one is live. */
export const skillDecider: Decider<Skill, SkillCommand, StoredEvent> = {
  category: 'skill',
  initial: { status: 'absent', forfeited: PersistentSet() },

  decide: (command, skill) => {
    if (command.type === 'ForfeitClaim') return forfeit(command.claim, skill);
    if (command.type === 'Create') return create(command, skill);
    if (skill.status === 'absent') return reject('not_found');
    if (skill.status === 'deleted') return command.type === 'Delete' ? [] : reject('not_found');
    switch (command.type) {
      case 'Change':
        return change(command, skill);
      case 'DiscardDraft':
        return discard(command.versionId, skill);
      case 'Publish':
        return publish(command.versionId, skill);
      case 'Activate':
        return activate(command.versionId, skill);
      case 'Delete': {
        const { spaceId, agentId, ticket } = skill;
        return [{ type: 'SkillDeleted', data: { spaceId, agentId, ticket, blobs: [...bodiesOf(versionsOf(skill))] } }];
      }
      default:
        return never(command);
    }
  },

  evolve: (skill, event) => {
    if (event.type === 'SkillDeleted') return { status: 'deleted' };
    if (event.type === 'ClaimForfeited')
      return skill.status === 'deleted' ? skill : { ...skill, forfeited: forfeiting(skill.forfeited, [event.data]) };
    const at = event.context.recordedAt;
    if (event.type === 'SkillCreated')
      return {
        status: 'present',
        forfeited: skill.status === 'absent' ? skill.forfeited : PersistentSet(),
        ...event.data,
        draft: null,
        published: List(),
        activeVersionId: null,
        createdAt: at,
        updatedAt: at,
      };
    if (skill.status !== 'present') return skill;
    switch (event.type) {
      case 'SkillRenamed': {
        const { name, ticket, released } = event.data;
        const forfeited = forfeiting(skill.forfeited, [{ ticket: released }]);
        return { ...skill, name, ticket, forfeited, updatedAt: at };
      }
      case 'SkillDraftSaved':
        return { ...skill, draft: savedDraft(event.data, at, skill), updatedAt: at };
      case 'SkillDraftDiscarded':
        return { ...skill, draft: null, updatedAt: at };
      case 'SkillPublished': {
        if (skill.draft === null) return skill;
        const { versionId, contentHash } = event.data;
        const version = { ...skill.draft, publishedAt: at, contentHash };
        return {
          ...skill,
          draft: null,
          published: skill.published.push(version),
          activeVersionId: versionId,
          updatedAt: at,
        };
      }
      case 'SkillVersionActivated':
        return { ...skill, activeVersionId: event.data.versionId, updatedAt: at };
      default:
        return never(event);
    }
  },

  owner: (event) => (event.type === 'SkillCreated' ? { spaceId: event.data.spaceId } : {}),
};

/** Every version, oldest first, the draft last. */
export const versionsOf = ({ published, draft }: PresentSkill): readonly SkillVersion[] => [
  ...published,
  ...(draft === null ? [] : [draft]),
];

/** The version that is live; undefined before the first is published. */
export const activeVersion = ({ published, activeVersionId }: PresentSkill): SkillVersion | undefined =>
  published.find(({ id }) => id === activeVersionId);

const create = (command: Extract<SkillCommand, { type: 'Create' }>, skill: Skill): readonly StoredEvent[] => {
  const { origin, name, slug, ticket, draft } = command;
  if (skill.status === 'deleted') return reject('not_found');
  if (skill.status === 'present') return skill.ticket === ticket ? [] : reject('conflict', { reason: 'exists' });
  assertTicket(ticket, skill.forfeited);
  const { event, version } = firstDraft(draft);
  return [
    { type: 'SkillCreated', data: { ...origin, name, slug, ticket } },
    event,
    ...(command.publish ? publishing(version) : []),
  ];
};

const change = (
  { rename, draft, publish: isPublished }: Extract<SkillCommand, { type: 'Change' }>,
  skill: PresentSkill,
): readonly StoredEvent[] => {
  const renamed: StoredEvent[] = [];
  if (rename !== undefined && rename.ticket !== skill.ticket && rename.name !== skill.name) {
    assertTicket(rename.ticket, skill.forfeited);
    renamed.push({ type: 'SkillRenamed', data: { ...rename, spaceId: skill.spaceId, released: skill.ticket } });
  }
  const changed = draft && changedDraft(draft, skill, activeVersion(skill));
  if (changed === undefined) return renamed;
  return [...renamed, changed.event, ...(isPublished === true ? publishing(changed.version) : [])];
};

const discard = (versionId: string, skill: PresentSkill): readonly StoredEvent[] => {
  if (skill.draft?.id !== versionId) return [];
  if (skill.published.isEmpty()) return reject('conflict', { reason: 'only_draft' });
  return [{ type: 'SkillDraftDiscarded', data: { versionId, superseded: bodiesOnlyIn(skill.draft, skill.published) } }];
};

const publish = (versionId: string, skill: PresentSkill): readonly StoredEvent[] => {
  if (skill.draft?.id === versionId) return publishing(skill.draft);
  return skill.published.some(({ id }) => id === versionId) ? [] : reject('conflict', { reason: 'no_draft' });
};

const publishing = (version: SkillVersion): readonly StoredEvent[] => [
  {
    type: 'SkillPublished',
    data: {
      versionId: version.id,
      number: version.number,
      description: version.description,
      contentHash: hashOf(version),
    },
  },
];

const activate = (versionId: string, skill: PresentSkill): readonly StoredEvent[] => {
  const version = skill.published.find(({ id }) => id === versionId);
  if (version === undefined) return reject('invalid_body', { path: 'versionId', reason: 'unknown_version' });
  return skill.activeVersionId === versionId
    ? []
    : [{ type: 'SkillVersionActivated', data: { versionId, description: version.description } }];
};

const forfeit = (claim: Claim, skill: Skill): readonly StoredEvent[] => {
  if (skill.status === 'deleted' || skill.forfeited.has(claim.ticket)) return [];
  if (skill.status === 'present' && skill.ticket === claim.ticket) return reject('name_taken', { path: 'name' });
  return [{ type: 'ClaimForfeited', data: claim }];
};

const assertTicket = (ticket: string, forfeited: Forfeited): void =>
  assertClaims([{ key: 'skillNames', ticket }], forfeited);
