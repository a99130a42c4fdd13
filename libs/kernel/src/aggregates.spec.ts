import { z } from 'zod';
import { defineAggregate, ownedByNobody, ownKey, ownStream } from './aggregate';
import { Aggregates } from './aggregates';
import { heldBlob, releasedBlobs, sensitive } from './marked-fields';
import { nameSchema, textSchema } from './name-schemas';
import type { RecordedEvent } from './recorded-event';
import { defineEvent } from './event-definition';
import { defineIntegration, integrationEvent } from './integration-event';

const event = <Type extends string, Data extends z.ZodObject>(type: Type, data: Data) =>
  defineEvent({ type, description: type, data });
const named = event('NoteAdded', z.strictObject({ title: sensitive(z.string()), color: z.string() }));
const inUnion = event(
  'NotePartAdded',
  z.strictObject({
    parts: z.array(
      z.discriminatedUnion('type', [
        z.strictObject({ type: z.literal('text'), text: sensitive(z.string()) }),
        z.strictObject({ type: z.literal('rule') }),
      ]),
    ),
  }),
);
const filed = event(
  'NoteFiled',
  z.strictObject({ parts: z.array(z.strictObject({ file: heldBlob() })), picture: heldBlob().nullable() }),
);
const deleted = event('NoteDeleted', z.strictObject({}));
const emptied = event('NoteEmptied', z.strictObject({ files: releasedBlobs() }));
const unowned = { category: 'note' };
const note = { category: 'note', owner: () => ({ userId: 'u' }) };
const again = () => Promise.resolve();
const recorded = (type: string, data: Record<string, unknown> = {}) => ({
  type,
  data,
  context: {
    id: 'e',
    stream: 'note-1',
    revision: 0,
    position: '1',
    recordedAt: '',
    actor: '',
    commandId: '',
    correlationId: '',
  },
});

it.each([
  ['title', z.strictObject({ title: nameSchema().optional() })],
  ['parts[].text', z.strictObject({ parts: z.array(z.strictObject({ text: textSchema(10).nullable() })) })],
])('an event whose %s people enter and nothing encrypts is rejected', (field, data) =>
  expect(() => event('NoteAdded', data)).toThrow(
    `NoteAdded.${field} is text that people enter: mark it as \`sensitive\`, so that it is encrypted.`,
  ),
);

it('text that people enter may stand in an encrypted value, at any depth', () =>
  expect(() =>
    event('NoteAdded', z.strictObject({ parts: sensitive(z.array(z.strictObject({ text: textSchema(10) }))) })),
  ).not.toThrow());

describe('an aggregate whose content would outlive it is rejected', () => {
  it.each([
    [
      'that nobody owns, though an event erases it: it would outlive its user or Space',
      () => defineAggregate(unowned, [named, deleted], { erasure: { by: { NoteDeleted: ownKey }, again }, kinds: {} }),
      'NoteAdded.title is sensitive, but the aggregate note has no owner to be erased with: give its decider `owner`.',
    ],
    [
      'whose owner is nobody, whichever event comes first',
      () =>
        defineAggregate({ category: 'note', owner: () => ({}) }, [named, deleted], {
          erasure: { by: { NoteDeleted: ownKey }, again },
          kinds: {},
        }),
      'NoteAdded.title is sensitive, but the aggregate note names no owner for any of its events: return one from `owner`, or give it `ownedByNobody`.',
    ],
    [
      'that says nothing of auditors',
      () => defineAggregate(note, [named, deleted], { erasure: { by: { NoteDeleted: ownKey }, again } }),
      'NoteAdded.title is sensitive, but the aggregate note does not say how auditors find it: declare `kinds`, empty if they ask for it by no id.',
    ],
    [
      'that says nothing of erasure',
      () => defineAggregate(note, [named], { kinds: {} }),
      'NoteAdded.title is sensitive, but the aggregate note does not say what erases it: declare `erasure`.',
    ],
    [
      'with a sensitive field in one shape of a part',
      () => defineAggregate(note, [inUnion], { kinds: {} }),
      'NotePartAdded.parts[].text is sensitive, but the aggregate note does not say what erases it: declare `erasure`.',
    ],
    [
      'with a stored body',
      () => defineAggregate(note, [filed], { kinds: {} }),
      'NoteFiled.parts[].file names a stored body, but the aggregate note does not say what erases it: declare `erasure`.',
    ],
    [
      'that goes with an owner it does not have',
      () => defineAggregate(unowned, [named], { erasure: { by: {}, again: 'withOwner' }, kinds: {} }),
      'NoteAdded.title is sensitive, but the aggregate note has no owner to be erased with: give its decider `owner`.',
    ],
    [
      'that no event erases',
      () => defineAggregate(note, [named], { erasure: { by: {}, again }, kinds: {} }),
      'NoteAdded.title is sensitive, but the aggregate note names no event that erases it: name one in `erasure.by`.',
    ],
    [
      'whose bodies no event releases',
      () =>
        defineAggregate(note, [named, filed, deleted], { erasure: { by: { NoteDeleted: ownKey }, again }, kinds: {} }),
      'NoteFiled.parts[].file names a stored body, but the aggregate note names no event that releases it: mark the field that does with `releasedBlobs`.',
    ],
  ])('is rejected %s, with a sentence that names it', (_, declare, sentence) => expect(declare).toThrow(sentence));

  it('unless it has an owner, with whom it goes or an event that erases it alone', () => {
    expect(() => defineAggregate(note, [named], { erasure: { by: {}, again: 'withOwner' }, kinds: {} })).not.toThrow();
    expect(() =>
      defineAggregate(note, [named, deleted], { erasure: { by: { NoteDeleted: ownKey }, again }, kinds: {} }),
    ).not.toThrow();
    expect(() => defineAggregate(note, [deleted])).not.toThrow();
  });

  it.each<[string, (event: { type: string; data: Record<string, string> }) => object]>([
    ['for one of its events', ({ type, data }) => (type === 'NoteAdded' ? { spaceId: data['spaceId'] } : {})],
    ['by what the event says', ({ data }) => (data['kind'] === 'shared' ? {} : { userId: data['userId'] })],
    ['as nobody, on purpose', ownedByNobody],
  ])('unless its owner is named %s', (_, owner) =>
    expect(() =>
      defineAggregate({ category: 'note', owner }, [named, deleted], {
        erasure: { by: { NoteDeleted: ownKey }, again },
        kinds: {},
      }),
    ).not.toThrow(),
  );

  it('and so is one that says what follows from events of others', () => {
    expect(() =>
      defineAggregate(note, [named], { erasure: { by: { NoteDeleted: ownKey } as object, again }, kinds: {} }),
    ).toThrow('The aggregate note says what follows from NoteDeleted, which is none of its events.');
  });
});

describe('what follows from the declarations', () => {
  const removed = defineIntegration({
    name: 'note.deleted',
    version: 1,
    subject: 'notes',
    description: '',
    data: z.object({ noteId: z.string() }),
  });
  const notes = defineAggregate(note, [named, filed, emptied, deleted], {
    erasure: { by: { NoteDeleted: ownKey }, again },
    integrations: {
      definitions: [removed],
      mapping: { NoteDeleted: (_, noteId) => integrationEvent(removed, { noteId }) },
    },
    kinds: { note: ownStream('note') },
  });
  const all = new Aggregates([notes, defineAggregate({ category: 'board' }, [deleted])]);

  it('is whose streams are ours, and the kinds of event, each once', () => {
    expect(all.catalogue.isOurStream('note-1')).toBe(true);
    expect(all.catalogue.isOurStream('order-1')).toBe(false);
    expect(all.catalogue.all().map(({ type }) => type)).toEqual([
      'NoteAdded',
      'NoteDeleted',
      'NoteEmptied',
      'NoteFiled',
    ]);
  });

  it('is what erases, and what a restore deletes again', () => {
    expect(all.erasingTypes).toEqual(['NoteDeleted']);
    expect([all.erasedBy(recorded('NoteDeleted')), all.erasedBy(recorded('NoteAdded'))]).toEqual([
      { stream: 'note-1' },
      undefined,
    ]);
    expect([all.deletionOf('note-1'), all.deletionOf('board-1'), all.deletionOf('other-1')]).toEqual([
      again,
      undefined,
      undefined,
    ]);
  });

  it('is what erases an entity alone, and what a restore deletes of it again', async () => {
    const written = defineEvent({
      type: 'PageWritten',
      description: '',
      data: z.strictObject({ pageId: z.string(), text: sensitive(z.string()) }),
      entity: 'pageId',
    });
    const torn = event('PageTorn', z.strictObject({ pageId: z.string() }));
    const closed = event('BookBurnt', z.strictObject({}));
    const events = [written, torn, closed] as const;
    const erasure = { by: { BookBurnt: ownKey }, again };
    expect(() => defineAggregate({ ...note, category: 'book' }, events, { erasure, kinds: {} })).toThrow(
      'PageWritten.pageId names an entity with a data key of its own, but the aggregate book does not say what erases it: declare `erasure.entities`.',
    );
    const removed: string[] = [];
    const entities = {
      by: { PageTorn: ({ data }: RecordedEvent) => String(data['pageId']) },
      again: async (_: unknown, id: string, entity: string) => void removed.push(`${id} ${entity}`),
    };
    const books = new Aggregates([
      defineAggregate({ ...note, category: 'book' }, events, { erasure: { ...erasure, entities }, kinds: {} }),
    ]);
    expect([books.erasingTypes.toSorted(), books.endingTypes]).toEqual([['BookBurnt', 'PageTorn'], ['BookBurnt']]);
    const stored = { type: 'PageTorn', data: '{"pageId":"p1"}', stream: 'book-1' };
    expect(['book-1/p1', 'book-1/p2', 'book-1'].map((key) => books.erases(stored, key))).toEqual([true, false, false]);
    expect(books.deletionOf('book-1')).toBe(again);
    // `entities.again` above looks at neither the decisions nor the command.
    await books.deletionOf('book-1/p1')?.(undefined as never, '1', undefined as never);
    expect(removed).toEqual(['1 p1']);
    expect(all.deletionOf('note-1/p1')).toBeUndefined();
  });

  it('is which bodies are held and released, wherever they stand', () => {
    expect([all.holdBlobs('note-1'), all.holdBlobs('board-1')]).toEqual([true, false]);
    expect(all.blobEvents().map(({ type }) => type)).toEqual(['NoteEmptied', 'NoteFiled']);
    expect(all.blobsIn(recorded('NoteFiled', { parts: [{ file: 'a' }, { file: 'b' }], picture: 'c' }))).toEqual({
      held: ['a', 'b', 'c'],
      released: [],
    });
    expect(all.blobsIn(recorded('NoteFiled', { parts: [], picture: null }))).toEqual({ held: [], released: [] });
    expect(all.blobsIn(recorded('NoteEmptied', { files: ['a', 'b'] }))).toEqual({ held: [], released: ['a', 'b'] });
    expect(all.blobsIn(recorded('Unknown', { files: ['a'] }))).toEqual({ held: [], released: [] });
  });

  it('is told to nobody under a definition that is not declared: no schema of it would be published', () => {
    const tells = { NoteDeleted: (_: unknown, noteId: string) => integrationEvent(removed, { noteId }) };
    const undeclared = defineAggregate(note, [deleted], { integrations: { definitions: [], mapping: tells } });
    expect(() => new Aggregates([undeclared]).integrationOf(recorded('NoteDeleted'))).toThrow(
      'note.deleted is told of NoteDeleted, but not declared: enter it in the `definitions` of its aggregate.',
    );
  });

  it('is what others are told, and about what', () => {
    expect([all.subjects, all.relayedTypes]).toEqual([['notes'], ['NoteDeleted']]);
    expect(all.integrationOf(recorded('NoteDeleted'))).toEqual({ definition: removed, data: { noteId: '1' } });
    expect(all.integrationOf(recorded('NoteAdded'))).toBeNull();
  });

  it('is where auditors find objects', () => expect(all.kinds['note']?.stream?.('1')).toBe('note-1'));

  it.each([
    ['a category', () => new Aggregates([notes, defineAggregate(note, [])]), 'The category note is declared twice.'],
    [
      'a kind of object',
      () =>
        new Aggregates([notes, defineAggregate({ category: 'board' }, [], { kinds: { note: ownStream('board') } })]),
      'note is declared by two aggregates.',
    ],
    [
      'what an event erases',
      () =>
        new Aggregates([
          notes,
          defineAggregate({ category: 'board' }, [deleted], {
            erasure: { by: { NoteDeleted: ownKey }, again },
            kinds: {},
          }),
        ]),
      'NoteDeleted is declared by two aggregates.',
    ],
    [
      'the name of an event',
      () => new Aggregates([notes, defineAggregate({ category: 'board' }, [event('NoteDeleted', z.strictObject({}))])]),
      'event type NoteDeleted is defined twice',
    ],
  ])('is rejected where two declare %s', (_, declare, sentence) => expect(declare).toThrow(sentence));
});
