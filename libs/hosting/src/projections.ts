import type { Projection } from '@app/projecting';
import { agentVersions } from '@projections/agent-versions';
import { agents } from '@projections/agents';
import { apiKeys } from '@projections/api-keys';
import { auditObjects } from '@projections/audit-objects';
import { auditTrail } from '@projections/audit-trail';
import { conversations } from '@projections/conversations';
import { documentLogs } from '@projections/document-logs';
import { documents } from '@projections/documents';
import { ingestionQueue } from '@projections/ingestion-queue';
import { invocations } from '@projections/invocations';
import { limits } from '@projections/limits';
import { messages } from '@projections/messages';
import { namedBlobs } from '@projections/named-blobs';
import { passages } from '@projections/passages';
import { prompts } from '@projections/prompts';
import { restatements } from '@projections/restatements';
import { spaceMembers } from '@projections/space-members';
import { spaces } from '@projections/spaces';
import { tags } from '@projections/tags';
import { usage, usageDays } from '@projections/usage';
import { users } from '@projections/users';
import { aggregates } from './aggregates';

/** Every view of the product. */
export const projections: readonly Projection[] = [
  agentVersions,
  agents,
  apiKeys,
  auditObjects,
  auditTrail(aggregates.catalogue.all().map(({ type }) => type)),
  conversations,
  documentLogs,
  documents,
  ingestionQueue,
  invocations,
  limits,
  messages,
  namedBlobs(aggregates.blobEvents()),
  passages,
  prompts,
  restatements,
  spaceMembers,
  spaces,
  tags,
  usage,
  usageDays,
  users,
];
