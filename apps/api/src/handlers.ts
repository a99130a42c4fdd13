import { agentHandlers } from '@app/agents';
import { conversationHandlers } from '@app/conversations';
import { identityHandlers } from '@app/identity';
import { knowledgeHandlers } from '@app/knowledge';
import { spaceHandlers } from '@app/spaces';
import { limitHandlers } from '@app/spending';
import type { Type } from '@nestjs/common';
import { agentVersionQueryHandlers } from '@projections/agent-versions';
import { agentQueryHandlers } from '@projections/agents';
import { apiKeyQueryHandlers } from '@projections/api-keys';
import { conversationQueryHandlers } from '@projections/conversations';
import { documentLogQueryHandlers } from '@projections/document-logs';
import { documentQueryHandlers } from '@projections/documents';
import { invocationQueryHandlers } from '@projections/invocations';
import { limitQueryHandlers } from '@projections/limits';
import { messageQueryHandlers } from '@projections/messages';
import { promptQueryHandlers } from '@projections/prompts';
import { restatementQueryHandlers } from '@projections/restatements';
import { spaceMemberQueryHandlers } from '@projections/space-members';
import { spaceQueryHandlers } from '@projections/spaces';
import { tagQueryHandlers } from '@projections/tags';
import { usageQueryHandlers } from '@projections/usage';
import { userQueryHandlers } from '@projections/users';

/** Every command handler and query handler that the API dispatches to. */
export const handlers: readonly Type[] = [
  ...identityHandlers,
  ...spaceHandlers,
  ...agentHandlers,
  ...knowledgeHandlers,
  ...conversationHandlers,
  ...limitHandlers,
  ...userQueryHandlers,
  ...apiKeyQueryHandlers,
  ...spaceQueryHandlers,
  ...spaceMemberQueryHandlers,
  ...promptQueryHandlers,
  ...agentQueryHandlers,
  ...agentVersionQueryHandlers,
  ...documentQueryHandlers,
  ...documentLogQueryHandlers,
  ...tagQueryHandlers,
  ...conversationQueryHandlers,
  ...messageQueryHandlers,
  ...limitQueryHandlers,
  ...invocationQueryHandlers,
  ...restatementQueryHandlers,
  ...usageQueryHandlers,
];
