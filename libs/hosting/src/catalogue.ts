import { EventCatalogue, type EventDefinition } from '@app/kernel';

/** Every kind of event of the product, one list per bounded context. */
const definitions: readonly (readonly EventDefinition[])[] = [];

export const eventCatalogue = new EventCatalogue(definitions.flat());
