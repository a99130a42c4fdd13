import { agentDecider, agentEvents } from '@app/agents';
import { contentLookEvents, contentLooks, operatorActionEvents, operatorActions } from '@app/auditing';
import { conversationDecider, conversationEvents } from '@app/conversations';
import { erasureCategories, erasureEvents } from '@app/erasure';
import { adminEvents, adminsDecider, apiKeyDecider, apiKeyEvents, apiKeyUseDecider, userDecider, userEvents } from '@app/identity';
import { EventCatalogue, type EventDefinition } from '@app/kernel';
import { documentDecider, documentEvents, tagEvents, tagRegistryDecider } from '@app/knowledge';
import { modelDecider, modelEvents, modelListDecider } from '@app/models';
import { policyCategories, policyEvents } from '@app/projecting';
import { reservationDecider, reservationEvents } from '@app/reservations';
import { removalEvents, sealEvents, sealingCategories } from '@app/sealing';
import { promptDecider, promptEvents, spaceDecider, spaceEvents } from '@app/spaces';
import { spendingCategories, spendingEvents } from '@app/spending';

/** Every kind of event of the product, one list per bounded context. */
const definitions: readonly (readonly EventDefinition[])[] = [reservationEvents, adminEvents, userEvents, apiKeyEvents, spaceEvents, promptEvents, agentEvents, documentEvents, tagEvents, conversationEvents, contentLookEvents, operatorActionEvents, modelEvents, spendingEvents, policyEvents, sealEvents, removalEvents, erasureEvents];

/** What the names of the product's streams begin with. To a log that others write too, all other streams are theirs: a version that adds one is the first to see its events. */
const categories: readonly string[] = [
  ...[reservationDecider, adminsDecider, userDecider, apiKeyDecider, apiKeyUseDecider, spaceDecider, promptDecider, agentDecider, documentDecider, tagRegistryDecider, conversationDecider, contentLooks, operatorActions, modelDecider, modelListDecider].map(({ category }) => category),
  ...spendingCategories,
  ...policyCategories,
  ...sealingCategories,
  ...erasureCategories,
];

export const eventCatalogue = new EventCatalogue(definitions.flat(), categories);
