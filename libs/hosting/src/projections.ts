import type { Projection } from '@app/projecting';
import { agentVersions } from '@projections/agent-versions';
import { agents } from '@projections/agents';
import { apiKeys } from '@projections/api-keys';
import { prompts } from '@projections/prompts';
import { spaceMembers } from '@projections/space-members';
import { spaces } from '@projections/spaces';
import { users } from '@projections/users';

/** Every view of the product. */
export const projections: readonly Projection[] = [agentVersions, agents, apiKeys, prompts, spaceMembers, spaces, users];
