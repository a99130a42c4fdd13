import { type AnyEvent, idOf, type RecordedEvent } from '@app/kernel';
import { agentDefinitions, agentIntegrations } from './events/agent-events';
import { conversationDefinitions, conversationIntegrations } from './events/conversation-events';
import { documentDefinitions, documentIntegrations } from './events/document-events';
import { limitDefinitions, limitIntegrations } from './events/limit-events';
import { spaceDefinitions, spaceIntegrations } from './events/space-events';
import { userDefinitions, userIntegrations } from './events/user-events';
import type { IntegrationDefinition, IntegrationEvent, Integrations } from './integration-event';

/** Every kind of integration event. */
export const integrationDefinitions: readonly IntegrationDefinition[] = [...userDefinitions, ...spaceDefinitions, ...agentDefinitions, ...documentDefinitions, ...conversationDefinitions, ...limitDefinitions];

const integrations: Integrations<AnyEvent> = { ...userIntegrations, ...spaceIntegrations, ...agentIntegrations, ...documentIntegrations, ...conversationIntegrations, ...limitIntegrations } as Integrations<AnyEvent>;

/** The types of the log's events that others are told of. */
export const relayedTypes: readonly string[] = Object.keys(integrations);

/** What others are told of an event of the log; null: nothing. Throws when it is not what its definition promises. */
export const integrationOf = ({ type, data, context }: RecordedEvent): IntegrationEvent | null => {
  const told = integrations[type]?.(data, idOf(context.stream));
  return told === undefined ? null : { ...told, data: told.definition.data.parse(told.data) };
};
