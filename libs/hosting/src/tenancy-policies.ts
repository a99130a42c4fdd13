import { type ChatModels, CreatePersonalAgentHandler, deleteAgents, makePersonalAgents } from '@app/agents';
import { grantAgentsToTheirKeys, releaseMailAddresses, revokeKeysOfDeletedUsers } from '@app/identity';
import { type Clock, Unavailable } from '@app/kernel';
import type { Policy, Projecting } from '@app/projecting';
import type { PageStart, ReadStore } from '@app/read-store';
import type { Reservations } from '@app/reservations';
import { CreatePersonalSpaceHandler, deletePrompts, forgetMembers, keepPersonalSpaces, releaseSpaceNames } from '@app/spaces';
import { agents } from '@projections/agents';
import { prompts } from '@projections/prompts';
import { spaceMembers, spacesOfUser } from '@projections/space-members';
import type { Stores } from './open-stores';

/** How long a policy waits for a view before it fails, and is tried again. */
const VIEW_MS = 30_000;
const PAGE = 1_000;

export interface TenancyParts {
  readonly stores: Stores;
  readonly projecting: Pick<Projecting, 'waitFor'>;
  readonly reservations: Reservations;
  readonly models: ChatModels;
  readonly clock: Clock;
}

/** The policies of users, Spaces and Agents. */
export const tenancyPolicies = ({ stores, projecting, reservations, models, clock }: TenancyParts): readonly Policy[] => {
  const { decisions, log, readStore } = stores;
  const complete = async (view: string, position: string): Promise<void> => {
    if (!(await projecting.waitFor(view, position, VIEW_MS))) throw new Unavailable(`the view ${view}`, 'it is behind the log');
  };
  const ofSpace = (view: string) => async (spaceId: string, position: string): Promise<readonly string[]> => {
    await complete(view, position);
    return keysOfSpace(readStore, view, spaceId);
  };
  const spacesOf = async (userId: string, position: string): Promise<readonly string[]> => {
    await complete(spaceMembers.name, position);
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

/** Keys of all rows of a Space in a view that lists them by `createdAt`. */
const keysOfSpace = async (store: ReadStore, view: string, spaceId: string): Promise<readonly string[]> => {
  const keys: string[] = [];
  for (let after: PageStart | undefined; ; ) {
    const options = { where: { spaceId }, orderBy: [{ field: 'createdAt', order: 'desc' }], limit: PAGE } as const;
    const rows = await store.find(view, after === undefined ? options : { ...options, after });
    for (const { key } of rows) keys.push(key);
    const last = rows.at(-1);
    if (rows.length < PAGE || last === undefined) return keys;
    after = { values: [last.row['createdAt'] ?? null], key: last.key };
  }
};
