import { type ChatModels, CreatePersonalAgentHandler, deleteAgents, makePersonalAgents } from '@app/agents';
import { grantAgentsToTheirKeys, releaseMailAddresses, revokeKeysOfDeletedUsers } from '@app/identity';
import type { Clock } from '@app/kernel';
import type { Policy, Projecting } from '@app/projecting';
import type { Reservations } from '@app/reservations';
import {
  CreatePersonalSpaceHandler,
  deletePrompts,
  forgetMembers,
  keepPersonalSpaces,
  releaseSpaceNames,
} from '@app/spaces';
import { agents } from '@projections/agents';
import { prompts } from '@projections/prompts';
import { spaceMembers, spacesOfUser } from '@projections/space-members';
import { completeKeys } from './complete-rows';
import { viewComplete } from './complete-view';
import type { Stores } from './open-stores';

export interface TenancyParts {
  readonly stores: Stores;
  readonly projecting: Pick<Projecting, 'gap'>;
  readonly reservations: Reservations;
  readonly models: ChatModels;
  readonly clock: Clock;
}

/** The policies of users, Spaces and Agents. */
export const tenancyPolicies = ({
  stores,
  projecting,
  reservations,
  models,
  clock,
}: TenancyParts): readonly Policy[] => {
  const { decisions, log, readStore } = stores;
  const keys = completeKeys(projecting, readStore);
  const ofSpace =
    (view: string) =>
    (spaceId: string, position: string): Promise<readonly string[]> =>
      keys(view, { spaceId }, [{ field: 'createdAt', order: 'desc' }], position);
  const spacesOf = async (userId: string, position: string): Promise<readonly string[]> => {
    await viewComplete(projecting, spaceMembers.name, position);
    return spacesOfUser(readStore, userId);
  };
  const parts = { decisions, log, clock };
  return [
    grantAgentsToTheirKeys(parts),
    releaseMailAddresses({ reservations, clock }),
    revokeKeysOfDeletedUsers(parts),
    keepPersonalSpaces({ ...parts, createPersonalSpace: new CreatePersonalSpaceHandler(decisions) }),
    makePersonalAgents({ createPersonalAgent: new CreatePersonalAgentHandler(decisions, models), clock }),
    forgetMembers({ ...parts, spacesOf }),
    releaseSpaceNames({ reservations, clock }),
    deletePrompts({ ...parts, promptsOf: ofSpace(prompts.name) }),
    deleteAgents({ ...parts, agentsOf: ofSpace(agents.name) }),
  ];
};
