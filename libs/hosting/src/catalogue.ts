import { agentEvents } from '@app/agents';
import { contentLookEvents, operatorActionEvents } from '@app/auditing';
import { adminEvents, apiKeyEvents, userEvents } from '@app/identity';
import { EventCatalogue, type EventDefinition } from '@app/kernel';
import { reservationEvents } from '@app/reservations';
import { promptEvents, spaceEvents } from '@app/spaces';

/** Every kind of event of the product, one list per bounded context. */
const definitions: readonly (readonly EventDefinition[])[] = [reservationEvents, adminEvents, userEvents, apiKeyEvents, spaceEvents, promptEvents, agentEvents, contentLookEvents, operatorActionEvents];

export const eventCatalogue = new EventCatalogue(definitions.flat());
