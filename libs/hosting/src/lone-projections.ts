import { agentEvents } from '@app/agents/events';
import { attachmentEvents, conversationEvents } from '@app/conversations/events';
import { apiKeyEvents, userEvents } from '@app/identity/events';
import { EventCatalogue } from '@app/kernel';
import { documentEvents, reindexEvents, tagEvents } from '@app/knowledge/events';
import { memoryEvents } from '@app/memory/events';
import type { Projection } from '@app/projecting';
import { claimForfeited } from '@app/reservations/events';
import { sectionSummaryEvents, summaryIndexEvents } from '@app/section-summaries/events';
import { entryEvents, installationEvents, skillEvents } from '@app/skills/events';
import { promptEvents, spaceEvents } from '@app/spaces/events';
import { invocationsRecorded, limitEvents, restatementEvents } from '@app/spending/events';
import { agentVersions } from '@projections/threads/agent-versions';
import { agents } from '@projections/threads/agents';
import { apiKeys } from '@projections/threads/api-keys';
import { attachments } from '@projections/threads/attachments';
import { auditObjects } from '@projections/threads/audit-objects';
import { conversations } from '@projections/threads/conversations';
import { documentLogs } from '@projections/threads/document-logs';
import { documents } from '@projections/threads/documents';
import { ingestionQueue } from '@projections/threads/ingestion-queue';
import { invocations } from '@projections/threads/invocations';
import { limits } from '@projections/threads/limits';
import { memories } from '@projections/threads/memories';
import { messages } from '@projections/threads/messages';
import { namedBlobs } from '@projections/threads/named-blobs';
import { passages } from '@projections/threads/passages';
import { prompts } from '@projections/threads/prompts';
import { reindexes } from '@projections/threads/reindexes';
import { restatements } from '@projections/threads/restatements';
import { searchedMessages } from '@projections/threads/searched-messages';
import { sectionSummaries, summaryBuilds, summarySources } from '@projections/threads/section-summaries';
import { skillEntries } from '@projections/threads/skill-entries';
import { skillInstallations } from '@projections/threads/skill-installations';
import { skills } from '@projections/threads/skills';
import { spaceMembers } from '@projections/threads/space-members';
import { spaces } from '@projections/threads/spaces';
import { tags } from '@projections/threads/tags';
import { usage, usageDays } from '@projections/threads/usage';
import { users } from '@projections/threads/users';
import { contextProjections } from './context-projections';

/** Every kind of event whose data a view reads: what the thread that rebuilds needs of the contexts that write them. */
export const viewEvents = new EventCatalogue([
  ...agentEvents,
  ...apiKeyEvents,
  ...attachmentEvents,
  claimForfeited,
  ...conversationEvents,
  ...documentEvents,
  ...entryEvents,
  ...installationEvents,
  invocationsRecorded,
  ...limitEvents,
  ...memoryEvents,
  ...promptEvents,
  ...reindexEvents,
  ...restatementEvents,
  ...sectionSummaryEvents,
  ...skillEvents,
  ...spaceEvents,
  ...summaryIndexEvents,
  ...tagEvents,
  ...userEvents,
]);

const bodies = viewEvents.all().filter(({ blobs }) => blobs.held.length + blobs.released.length > 0);

/** Every projection of a program that knows these types of events, by itself: without the modules that name them, which answer queries and load their contexts. */
export const loneProjections = (types: readonly string[]): readonly Projection[] => [
  ...contextProjections(types),
  agentVersions,
  agents,
  apiKeys,
  attachments,
  auditObjects,
  conversations,
  documentLogs,
  documents,
  ingestionQueue,
  invocations,
  limits,
  memories,
  messages,
  namedBlobs(bodies),
  passages,
  prompts,
  reindexes,
  restatements,
  searchedMessages,
  sectionSummaries,
  summaryBuilds,
  summarySources,
  skillEntries,
  skillInstallations,
  skills,
  spaceMembers,
  spaces,
  tags,
  usage,
  usageDays,
  users,
];
