import { type Decider, type EventsOf, never, reject } from '@app/kernel';
import { assertClaims, type Claim, claimForfeited, type Forfeited, forfeiting } from '@app/reservations';
import { Set as PersistentSet } from 'immutable';
import type { SkillScope } from '../skill/skill.events';
import type { InstallationEvent } from './installation.events';

type StoredEvent = InstallationEvent | EventsOf<readonly [typeof claimForfeited]>;

/** Where an entry is installed. */
export interface InstalledAt {
  readonly entryId: string;
  /** The version that it stays with; null: the newest. */
  readonly versionId: string | null;
  readonly scope: SkillScope;
  readonly spaceId: string;
  readonly agentId: string | null;
}

/** An installation that is there. */
export interface PresentInstallation extends InstalledAt {
  readonly status: 'present';
  /** Its claim to its name. */
  readonly ticket: string;
  readonly installedBy: string;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
}

/** State of an installation. */
export type Installation =
  | { readonly status: 'absent'; readonly forfeited: Forfeited }
  | { readonly status: 'uninstalled' }
  | PresentInstallation;

/** What can be asked of an installation. */
export type InstallationCommand =
  | { readonly type: 'Install'; readonly at: InstalledAt; readonly ticket: string; readonly installedBy: string }
  | { readonly type: 'Uninstall' }
  | { readonly type: 'ForfeitClaim'; readonly claim: Claim };

/** An entry of the marketplace in a Space or for one Agent, until it is taken away. */
export const installationDecider: Decider<Installation, InstallationCommand, StoredEvent> = {
  category: 'skillInstallation',
  initial: { status: 'absent', forfeited: PersistentSet() },
  decide: (command, installation) => {
    switch (command.type) {
      case 'Install': {
        const { at, ticket, installedBy } = command;
        if (installation.status === 'uninstalled') return reject('not_found');
        if (installation.status === 'present')
          return installation.ticket === ticket ? [] : reject('conflict', { reason: 'exists' });
        assertClaims([{ key: 'skillNames', ticket }], installation.forfeited);
        return [{ type: 'SkillInstalled', data: { ...at, ticket, installedBy } }];
      }
      case 'Uninstall': {
        if (installation.status === 'absent') return reject('not_found');
        if (installation.status === 'uninstalled') return [];
        const { entryId, spaceId, agentId, ticket } = installation;
        return [{ type: 'SkillUninstalled', data: { entryId, spaceId, agentId, ticket } }];
      }
      case 'ForfeitClaim': {
        const { claim } = command;
        // It takes up one ticket in its life, so that once it is there or gone no other can be used.
        if (installation.status === 'present')
          return installation.ticket === claim.ticket ? reject('name_taken', { path: 'name' }) : [];
        if (installation.status === 'uninstalled' || installation.forfeited.has(claim.ticket)) return [];
        return [{ type: 'ClaimForfeited', data: claim }];
      }
      default:
        return never(command);
    }
  },
  evolve: (installation, event) => {
    switch (event.type) {
      case 'SkillInstalled':
        return { status: 'present', ...event.data, createdAt: event.context.recordedAt };
      case 'SkillUninstalled':
        return { status: 'uninstalled' };
      case 'ClaimForfeited':
        return installation.status === 'absent'
          ? { ...installation, forfeited: forfeiting(installation.forfeited, [event.data]) }
          : installation;
      default:
        return never(event);
    }
  },
};
