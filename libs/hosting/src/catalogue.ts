import { agentEvents } from '@app/agents';
import { contentLookEvents, operatorActionEvents } from '@app/auditing';
import { conversationEvents } from '@app/conversations';
import { erasureEvents } from '@app/erasure';
import { adminEvents, apiKeyEvents, userEvents } from '@app/identity';
import { EventCatalogue, type EventDefinition } from '@app/kernel';
import { documentEvents, tagEvents } from '@app/knowledge';
import { modelEvents } from '@app/models';
import { policyEvents } from '@app/projecting';
import { reservationEvents } from '@app/reservations';
import { removalEvents, sealEvents } from '@app/sealing';
import { promptEvents, spaceEvents } from '@app/spaces';
import { spendingEvents } from '@app/spending';

/** Every kind of event of the product, one list per bounded context. */
const definitions: readonly (readonly EventDefinition[])[] = [reservationEvents, adminEvents, userEvents, apiKeyEvents, spaceEvents, promptEvents, agentEvents, documentEvents, tagEvents, conversationEvents, contentLookEvents, operatorActionEvents, modelEvents, spendingEvents, policyEvents, sealEvents, removalEvents, erasureEvents];

export const eventCatalogue = new EventCatalogue(definitions.flat());
