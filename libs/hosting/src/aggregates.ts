import { agentAggregate } from '@app/agents';
import { auditingAggregates } from '@app/auditing';
import { conversationAggregate } from '@app/conversations';
import { erasureAggregate } from '@app/erasure';
import { identityAggregates } from '@app/identity';
import { Aggregates } from '@app/kernel';
import { knowledgeAggregates } from '@app/knowledge';
import { modelAggregates } from '@app/models';
import { policyAggregates } from '@app/projecting';
import { reservationAggregate } from '@app/reservations';
import { sealingAggregates } from '@app/sealing';
import { spacesAggregates } from '@app/spaces';
import { spendingAggregates } from '@app/spending';

/** Every kind of aggregate of the product. To a log that others write too, all other streams are theirs: a version that adds one is the first to see its events. */
export const aggregates = new Aggregates([
  reservationAggregate,
  ...identityAggregates,
  ...spacesAggregates,
  agentAggregate,
  ...knowledgeAggregates,
  conversationAggregate,
  ...auditingAggregates,
  ...modelAggregates,
  ...spendingAggregates,
  ...policyAggregates,
  ...sealingAggregates,
  erasureAggregate,
]);

export const eventCatalogue = aggregates.catalogue;
