import { agentEvents } from '@app/agents';
import { conversationEvents } from '@app/conversations';
import { apiKeyEvents, userEvents } from '@app/identity';
import type { RecordedEvent } from '@app/kernel';
import { documentEvents, tagEvents } from '@app/knowledge';
import type { RowProjection } from '@app/projecting';
import { promptEvents, spaceEvents } from '@app/spaces';
import { invocationsRecorded, restatementEvents } from '@app/spending';
import fc from 'fast-check';
import { goldenData, goldenVersions } from '../../../test/fixtures/golden-events';
import { foldEvent, type Rows } from '../../auditing/src/row-fold';
import { aggregates } from './aggregates';
import { contextProjections } from './context-projections';
import { projections } from './projections';

/** Which kind of stream an event stands in, and the ids that no other stream has: the stream's own, and of what it makes. */
const kinds = [
  { category: 'agent', events: agentEvents, own: 'agentId' },
  { category: 'apiKey', events: apiKeyEvents, own: 'keyId' },
  {
    category: 'conversation',
    events: conversationEvents,
    own: 'conversationId',
    makes: ['messageId', 'parentId', 'answerId'],
  },
  { category: 'document', events: documentEvents, own: 'documentId' },
  { category: 'tags', events: tagEvents, own: 'spaceId', makes: ['tagId'] },
  { category: 'user', events: userEvents, own: 'userId' },
  { category: 'space', events: spaceEvents, own: 'spaceId' },
  { category: 'prompt', events: promptEvents, own: 'promptId' },
  { category: 'usage', events: [invocationsRecorded], own: 'id' },
  { category: 'restatement', events: restatementEvents, own: 'restatementId' },
] as const;

const golden = goldenVersions();
const rows = projections.filter((projection): projection is RowProjection => projection.kind === 'rows');

/** The golden event of a type as it would stand in one of two streams of its kind, which have all else in common: what they name is the first of its kind. */
const eventOf = (type: string, stream: number, position: number): RecordedEvent => {
  const kind = kinds.find(({ events }) => events.some((event) => event.type === type));
  const idIn = (field: string, value: unknown): unknown => {
    if (field === kind?.own) return String(stream);
    if (kind !== undefined && 'makes' in kind && kind.makes.some((made) => made === field))
      return value === null ? null : `${String(value)}-${stream}`;
    if (field === 'tagIds' || field === 'attached' || field === 'detached') return ['t'];
    return kinds.some(({ own }) => own === field) && value !== null ? '0' : value;
  };
  const data = JSON.parse(
    JSON.stringify(goldenData(type, Math.max(...(golden.get(type) ?? [1])))),
    idIn,
  ) as RecordedEvent['data'];
  const at = String(position).padStart(6, '0');
  const context = {
    id: `e${at}`,
    stream: `${kind?.category ?? 'other'}-${stream}`,
    revision: position,
    position: at,
    recordedAt: '2026-01-01T00:00:00.000Z',
    actor: 'user:u',
    commandId: 'c',
    correlationId: 'c',
  };
  return { type, data, context };
};

const fold = (projection: RowProjection, events: readonly RecordedEvent[]): Rows => {
  const folded: Rows = new Map();
  for (const event of events) foldEvent(folded, projection, event);
  return folded;
};

/** True when all streams folded together give the rows of each folded alone, whatever happens in them. */
const isPerStream = (projection: RowProjection): boolean => {
  const types = projection.types.filter((type) => golden.has(type));
  const happenings = fc.array(fc.tuple(fc.constantFrom(...types), fc.integer({ min: 0, max: 1 })), { maxLength: 30 });
  const property = fc.property(happenings, (drawn) => {
    const events = drawn.map(([type, stream], index) => eventOf(type, stream, index));
    const apart = [...Map.groupBy(events, ({ context }) => context.stream).values()].flatMap((stream) => [
      ...fold(projection, stream),
    ]);
    const together = fold(projection, events);
    return (
      apart.length === together.size &&
      apart.every(([key, row]) => JSON.stringify(row) === JSON.stringify(together.get(key)))
    );
  });
  return !fc.check(property, { numRuns: 200, seed: 7 }).failed;
};

describe('projections whose view is divided into slices', () => {
  it.each(
    rows.filter(({ perStream }) => perStream === true).map((projection) => [projection.name, projection] as const),
  )('%s touches only rows of the stream of the event', (_, projection) => {
    expect(isPerStream(projection)).toBe(true);
  });

  it.each(['api-keys', 'tags'])('are told from %s, which does more', (name) => {
    expect(rows.filter((projection) => projection.name === name).map(isPerStream)).toEqual([false]);
  });
});

describe('projections that are handed no data', () => {
  /** True when what an event does is the same without its data. */
  const isContextOnly = ({ apply, types }: RowProjection): boolean =>
    types
      .filter((type) => golden.has(type))
      .every((type) => {
        const event = eventOf(type, 0, 1);
        return JSON.stringify(apply(event)) === JSON.stringify(apply({ ...event, data: Object.freeze({}) }));
      });

  it.each(
    rows.filter(({ contextOnly }) => contextOnly === true).map((projection) => [projection.name, projection] as const),
  )('%s reads none', (_, projection) => expect(isContextOnly(projection)).toBe(true));

  it('are all at hand to the thread that catches them up', () => {
    const known = rows.filter(({ contextOnly }) => contextOnly === true);
    const types = aggregates.catalogue.all().map(({ type }) => type);
    const declared = ({ name, version, types: read, perStream, contextOnly, indexes }: RowProjection) => ({
      name,
      version,
      read,
      perStream,
      contextOnly,
      indexes,
    });
    expect(contextProjections(types).map(declared)).toEqual(known.map(declared));
  });

  it('are told from one that does', () =>
    expect(rows.filter(({ name }) => name === 'tags').map(isContextOnly)).toEqual([false]));
});
