import { agentHandlers } from '@app/agents';
import { identityHandlers } from '@app/identity';
import { spaceHandlers } from '@app/spaces';
import type { Type } from '@nestjs/common';
import { agentVersionQueryHandlers } from '@projections/agent-versions';
import { agentQueryHandlers } from '@projections/agents';
import { apiKeyQueryHandlers } from '@projections/api-keys';
import { promptQueryHandlers } from '@projections/prompts';
import { spaceMemberQueryHandlers } from '@projections/space-members';
import { spaceQueryHandlers } from '@projections/spaces';
import { userQueryHandlers } from '@projections/users';

/** Every command handler and query handler that the API dispatches to. */
export const handlers: readonly Type[] = [
  ...identityHandlers,
  ...spaceHandlers,
  ...agentHandlers,
  ...userQueryHandlers,
  ...apiKeyQueryHandlers,
  ...spaceQueryHandlers,
  ...spaceMemberQueryHandlers,
  ...promptQueryHandlers,
  ...agentQueryHandlers,
  ...agentVersionQueryHandlers,
];
