import { agentEvents } from '@app/agents';
import { conversationEvents } from '@app/conversations';
import { userEvents } from '@app/identity';
import {
  changeAt,
  EventCatalogue,
  EventCodec,
  type EventDefinition,
  integrationTypeOf,
  nameId,
  type StoredEvent,
  streamOf,
} from '@app/kernel';
import { documentEvents } from '@app/knowledge';
import { spaceEvents } from '@app/spaces';
import fc from 'fast-check';
import { z } from 'zod';
import { goldenData } from '../../../test/fixtures/golden-events';
import { messageOf } from '../../relay/src/message';
import { aggregates } from './aggregates';

const ID = '01990000-0000-7000-8000-00000000000a';
const OTHER = '01990000-0000-7000-8000-00000000000b';
const THIRD = '01990000-0000-7000-8000-00000000000c';

const told = (category: string, type: string, data: object) => {
  const context = {
    id: nameId(ID, type),
    stream: streamOf(category, ID),
    revision: 3,
    position: '1',
    recordedAt: '2026-11-21T12:00:00.000Z',
    actor: `user:${OTHER}`,
    commandId: ID,
    correlationId: ID,
  };
  const said = aggregates.integrationOf({ type, data: data as Record<string, unknown>, context });
  return said && { type: integrationTypeOf(said.definition), data: said.data };
};

describe('what others are told', () => {
  const usage = {
    inputTokens: 12,
    inputTokenDetails: { noCacheTokens: 12, cacheReadTokens: 0, cacheWriteTokens: 0 },
    outputTokens: 30,
    outputTokenDetails: { textTokens: 30, reasoningTokens: 0 },
    totalTokens: 42,
    cost: '0.000042',
    currency: 'USD',
    isIncludedUsage: true,
  };

  it.each([
    [
      'user',
      'UserCreated',
      { userId: ID, email: 'a@b.c', name: 'A', role: 'member', language: 'de', usageWindowStart: 'x', mailClaim: {} },
      'user.created',
      { userId: ID, role: 'member' },
    ],
    [
      'user',
      'UserChanged',
      { name: 'B', language: 'en', mailClaim: {} },
      'user.updated',
      { userId: ID, changed: ['name', 'language'] },
    ],
    ['user', 'UserRoleChanged', { role: 'admin', appointment: 3 }, 'user.role-changed', { userId: ID, role: 'admin' }],
    ['user', 'UserDeleted', { mailClaim: {} }, 'user.deleted', { userId: ID }],
    [
      'space',
      'SpaceCreated',
      { spaceId: ID, kind: 'team', ownerId: OTHER, name: 'S', slug: 's', description: '', color: '#000000' },
      'space.created',
      { spaceId: ID, kind: 'team', ownerId: OTHER },
    ],
    [
      'space',
      'SpaceMemberAdded',
      { userId: OTHER, role: 'editor', memberCount: 2 },
      'space.member-added',
      { spaceId: ID, userId: OTHER, role: 'editor', memberCount: 2 },
    ],
    [
      'agent',
      'AgentChanged',
      { systemPrompt: 'Be kind', model: 'm', restoredFrom: 2 },
      'agent.updated',
      { agentId: ID, changed: ['model', 'systemPrompt'] },
    ],
    [
      'spendAccount',
      'SpendLimitReached',
      { window: null, spent: '1500000000', amount: '1000000000', action: 'warn' },
      'limit.reached',
      { limitId: ID, windowStart: null, spent: '1.5', amount: '1', action: 'warn' },
    ],
    ['agent', 'AgentDeleted', { spaceId: OTHER }, 'agent.deleted', { agentId: ID, spaceId: OTHER }],
    ['document', 'DocumentRenamed', { name: 'N' }, 'document.updated', { documentId: ID, changed: ['name'] }],
    [
      'document',
      'DocumentReady',
      { attempt: 2, superseded: ['blob'] },
      'document.ready',
      { documentId: ID, attempt: 2 },
    ],
    [
      'document',
      'DocumentProcessingFailed',
      { attempt: 6, step: 'embed', code: 'upstream_error' },
      'document.failed',
      { documentId: ID, attempt: 6, step: 'embed', code: 'upstream_error' },
    ],
    [
      'conversation',
      'ConversationStarted',
      { conversationId: ID, agentId: OTHER, spaceId: THIRD, userId: OTHER, kind: 'private', title: 'T' },
      'conversation.created',
      { conversationId: ID, agentId: OTHER, spaceId: THIRD, userId: OTHER, kind: 'private' },
    ],
    [
      'conversation',
      'AssistantMessageAdded',
      {
        conversationId: ID,
        messageId: OTHER,
        parentId: THIRD,
        parts: [{ type: 'text', text: 'Hello' }],
        status: 'complete',
        finishReason: 'stop',
        model: 'local-chat',
        usage,
      },
      'conversation.answered',
      {
        conversationId: ID,
        messageId: OTHER,
        status: 'complete',
        finishReason: 'stop',
        errorCode: null,
        model: 'local-chat',
        usage: { inputTokens: 12, outputTokens: 30, totalTokens: 42, cost: '0.000042', currency: 'USD' },
      },
    ],
    ['conversation', 'ConversationUnarchived', {}, 'conversation.unarchived', { conversationId: ID }],
  ])('of an event of a %s, %s, says what its schema promises', (category, type, data, name, expected) => {
    expect(told(category, type, data)).toEqual({ type: `agent-platform.${name}.v1`, data: expected });
  });

  it.each([
    ['conversation', 'UserMessageAdded'],
    ['document', 'DocumentProcessingStarted'],
    ['apiKey', 'ApiKeyCreated'],
    ['policy', 'PolicyAdvanced'],
  ])('of %s %s is nothing', (category, type) => {
    expect(told(category, type, goldenData(type, 1))).toBeNull();
  });

  it('fits each definition, and each definition is told by some event', () => {
    const names = aggregates.relayedTypes.map((type) => told('thing', type, goldenData(type, 1))?.type);
    expect(new Set(names)).toEqual(new Set(aggregates.integrations.map(integrationTypeOf)));
  });
});

describe('content', () => {
  const definitions: readonly EventDefinition[] = [
    ...userEvents,
    ...spaceEvents,
    ...agentEvents,
    ...documentEvents,
    ...conversationEvents,
  ].filter(({ type }) => aggregates.relayedTypes.includes(type));
  const noKeys = { ensureKey: () => Promise.reject(new Error('nothing is written here')), keys: async () => new Map() };
  const codec = new EventCodec(new EventCatalogue(definitions), noKeys);

  /** The data of an event with `content` in every sensitive field. */
  const holding = ({ type, schema, sensitive }: EventDefinition, content: unknown): Record<string, unknown> => {
    const data = {
      ...goldenData(type, schema),
      ...Object.fromEntries(sensitive.filter((path) => !/[.[]/.test(path)).map((field) => [field, content])),
    };
    for (const path of sensitive) changeAt(data, path, () => content);
    return data;
  };

  /** The message made of an event whose sensitive fields hold a text in clear, as no log does. */
  const valueOf = (definition: EventDefinition, content: unknown): string => {
    const data = holding(definition, content);
    const context = {
      id: ID,
      stream: streamOf('thing', ID),
      revision: 0,
      position: '1',
      recordedAt: '2026-11-21T12:00:00.000Z',
      actor: 'system:test',
      commandId: ID,
      correlationId: ID,
    };
    const said = aggregates.integrationOf({ type: definition.type, data, context });
    return JSON.stringify(said && messageOf(said, context, { source: 'urn:test', topicPrefix: '' }));
  };

  it('of sensitive fields reaches no message, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...definitions),
        fc.string({ minLength: 1 }),
        fc.constantFrom('text', 'list', 'object'),
        (definition, text, shape) => {
          const marker = `content-${text}-tnetnoc`;
          const content =
            shape === 'text' ? marker : shape === 'list' ? [{ type: 'text', text: marker }] : { [marker]: marker };
          expect(valueOf(definition, content)).not.toContain(JSON.stringify(marker).slice(1, -1));
        },
      ),
    );
  });

  it('that is encrypted in the log cannot be read by what the relay reads with', () => {
    for (const definition of definitions) {
      const data = holding(definition, { $encrypted: 'AAAA' });
      const event: StoredEvent = {
        id: ID,
        type: definition.type,
        stream: streamOf('thing', ID),
        revision: 0,
        position: '1',
        data: JSON.stringify(data),
        metadata: JSON.stringify({ schema: String(definition.schema) }),
      };
      const read = codec.decodeWith(event, new Map()).data;
      for (const path of definition.sensitive) changeAt(read, path, (value) => expect(value).toEqual({ erased: true }));
    }
  });

  it('has no place in the contract: text is an id, a state, a code, a rule, a version, a key of the catalogue or an amount', () => {
    const codes = [
      'model',
      'embeddingModel',
      'code',
      'errorCode',
      'cost',
      'currency',
      'windowStart',
      'spent',
      'amount',
      'rules',
      'version',
    ];
    const free = (schema: z.core.JSONSchema.BaseSchema, path: string): string[] => {
      const inner = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
        free(field as z.core.JSONSchema.BaseSchema, name),
      );
      const others = [...(schema.anyOf ?? []), ...(schema.items === undefined ? [] : [schema.items])].flatMap((field) =>
        free(field as z.core.JSONSchema.BaseSchema, path),
      );
      return [
        ...inner,
        ...others,
        ...(schema.type === 'string' && schema.enum === undefined && schema.format !== 'uuid' ? [path] : []),
      ];
    };
    for (const { data } of aggregates.integrations)
      for (const field of free(z.toJSONSchema(data), '')) expect(codes).toContain(field);
  });
});
