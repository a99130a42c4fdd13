import fc from 'fast-check';
import type { RecordedEvent } from '@app/kernel';
import { addDocument } from '../../../../test/fixtures/document-commands';
import type { DocumentCommand } from './document.commands';
import { embeddedBefore } from './document-blobs';
import { documentDecider, type DocumentState } from './document.decider';
import type { DocumentEvent } from './document.events';

const TAG = '01900000-0000-7000-8000-00000000000a';
const OTHER_TAG = '01900000-0000-7000-8000-00000000000b';

const add = { ...addDocument, tagIds: [TAG] } as const;
const content = (contentHash: string, file: string) => ({ mimeType: 'text/plain', sizeBytes: 2, contentHash, file });
const report = { step: 'parse', startedAt: '2026-01-01T00:00:00.000Z', milliseconds: 1, produced: 1 } as const;
const chunked = (attempt: number, chunks = `c${attempt}`): DocumentCommand => ({
  type: 'MarkChunked',
  attempt,
  text: `t${attempt}`,
  chunks,
  chunkCount: 3,
  tokenCount: 9,
  chunking: null,
  reports: { parse: report, chunk: report },
});
const embedded = (attempt: number, passages: string): DocumentCommand => ({
  type: 'MarkEmbedded',
  attempt,
  passages,
  count: 1,
  embeddingModel: 'm',
});
const indexed = (attempt: number, last = 1): DocumentCommand => ({
  type: 'MarkIndexed',
  attempt,
  name: 'a.md',
  passages: `p${attempt}`,
  embedded: last,
  embeddingModel: 'm',
  steps: [],
});
const failed = (attempt: number): DocumentCommand => ({ type: 'Fail', attempt, step: 'embed', code: 'internal' });

const evolve = (state: DocumentState, event: DocumentEvent, revision = 0): DocumentState =>
  documentDecider.evolve(state, { ...event, context: { revision, actor: 'user:u1' } } as RecordedEvent<DocumentEvent>);
/** The state after commands, and what each of them said. */
const run = (...commands: readonly DocumentCommand[]): { state: DocumentState; types: readonly string[] } => {
  const types: string[] = [];
  let state = documentDecider.initial;
  for (const command of commands) {
    for (const event of documentDecider.decide(command, state)) {
      state = evolve(state, event, types.length);
      types.push(event.type);
    }
  }
  return { state, types };
};
const given = (...commands: readonly DocumentCommand[]) => ({
  when: (command: DocumentCommand) => ({
    thenSays: (...events: readonly object[]) =>
      expect(documentDecider.decide(command, run(...commands).state)).toMatchObject(events),
    thenNothing: () => expect(documentDecider.decide(command, run(...commands).state)).toEqual([]),
    thenRejected: (code: string) => expect(() => documentDecider.decide(command, run(...commands).state)).toThrow(code),
  }),
});

const start: DocumentCommand = { type: 'Start' };
const ready: readonly DocumentCommand[] = [add, start, chunked(1), indexed(1), { type: 'MarkReady', attempt: 1 }];

describe('a document on its way', () => {
  it('is Pending, Processing, indexed, and Ready only when searched', () =>
    expect(run(...ready).types).toEqual([
      'DocumentAdded',
      'DocumentProcessingStarted',
      'DocumentExtracted',
      'DocumentChunked',
      'DocumentEmbedded',
      'DocumentIndexed',
      'DocumentReady',
    ]));
  it('is not Ready before it is indexed', () =>
    given(add, start).when({ type: 'MarkReady', attempt: 1 }).thenNothing());
  it('is taken anew by another worker after a crash', () =>
    given(add, start)
      .when(start)
      .thenSays({ data: { attempt: 2 } }));
  it('does not listen to a worker that lost its claim', () => {
    for (const late of [
      chunked(1),
      embedded(1, 'b1'),
      indexed(1),
      failed(1),
      { type: 'RetryLater', attempt: 1, step: 'embed', code: 'x', retryAt: '' } as const,
    ])
      given(add, start, chunked(1), start).when(late).thenNothing();
  });
  it('waits again after a failure that may pass, and counts it', () => {
    const { state } = run(add, start, {
      type: 'RetryLater',
      attempt: 1,
      step: 'embed',
      code: 'upstream_error',
      retryAt: '2026-01-01T00:00:00.000Z',
    });
    expect(state).toMatchObject({ status: 'Pending', failures: 1, attempt: 1 });
  });
  it('fails where the search index does not take it', () =>
    given(add, start, chunked(1), indexed(1)).when(failed(1)).thenSays({ type: 'DocumentProcessingFailed' }));
  it('drops what a worker made of content that was replaced meanwhile', () =>
    given(add, start, { type: 'Update', content: content('h2', 'f2') })
      .when(indexed(1))
      .thenNothing());
});

describe('work on a document', () => {
  it('names what each step stored, the last batch with the whole', () => {
    given(add, start)
      .when(chunked(1))
      .thenSays(
        { type: 'DocumentExtracted', data: { text: 't1' } },
        { type: 'DocumentChunked', data: { chunks: 'c1', chunkCount: 3 } },
      );
    given(add, start, chunked(1), embedded(1, 'b1'))
      .when(indexed(1))
      .thenSays(
        { type: 'DocumentEmbedded', data: { passages: 'p1', count: 1 } },
        { type: 'DocumentIndexed', data: { text: 't1', passages: 'p1', chunkCount: 3, tokenCount: 9 } },
      );
    given(add, start, chunked(1)).when(indexed(1, 0)).thenSays({ type: 'DocumentIndexed' });
  });
  it('is kept for the next attempt, whatever ended the one before', () => {
    const retry = { type: 'RetryLater', attempt: 1, step: 'embed', code: 'x', retryAt: '' } as const;
    const work = [add, start, chunked(1), embedded(1, 'b1')] as const;
    for (const next of [[start], [retry, start], [failed(1), { type: 'Reprocess', force: false } as const, start]])
      expect(run(...work, ...next).state).toMatchObject({
        status: 'Processing',
        attempt: 2,
        extracted: 't1',
        chunked: { chunks: 'c1' },
      });
  });
  const before = (...commands: readonly DocumentCommand[]) => {
    const { state } = run(...commands);
    return state.status === 'Absent' || state.status === 'Deleted' ? undefined : embeddedBefore(state);
  };
  const replacement = { type: 'Update', content: content('h2', 'f2') } as const;
  it('uses vectors again that were made for earlier content', () => {
    expect(before(add, start, chunked(1), embedded(1, 'b1'), replacement)).toEqual([{ passages: 'b1', model: 'm' }]);
    expect(before(...ready, replacement, start, chunked(2), embedded(2, 'b2'))).toEqual([
      { passages: 'p1', model: 'm' },
      { passages: 'b2', model: 'm' },
    ]);
  });
  it('is done from the start where reprocessing is forced', () => {
    const forced = { type: 'Reprocess', force: true } as const;
    expect(before(...ready, forced)).toEqual([]);
    expect(run(add, start, chunked(1), embedded(1, 'b1'), failed(1), forced).state).toMatchObject({
      extracted: null,
      chunked: null,
      superseded: { size: 3 },
    });
  });
});

describe('reprocessing', () => {
  it('does nothing for unchanged content, unless forced', () => {
    given(...ready)
      .when({ type: 'Reprocess', force: false })
      .thenNothing();
    given(...ready)
      .when({ type: 'Reprocess', force: true })
      .thenSays({ type: 'DocumentReprocessRequested', data: { forced: true } });
  });
  it('repeats what failed', () =>
    given(add, start, failed(1))
      .when({ type: 'Reprocess', force: false })
      .thenSays({ type: 'DocumentReprocessRequested' }));
  it('follows where content is sent again that the document failed with, and at no other time', () => {
    const sent = { type: 'Update', content: content('h1', 'f2') } as const;
    given(add, start, failed(1))
      .when(sent)
      .thenSays({ type: 'DocumentContentReplaced', data: { file: 'f2', contentHash: 'h1' } });
    for (const before of [[add], [add, start], ready, [add, start, failed(1), sent]] as const)
      given(...before)
        .when(sent)
        .thenNothing();
  });
  it('is one job, however often it is asked for', () => {
    for (const force of [false, true])
      given(...ready, { type: 'Reprocess', force: true })
        .when({ type: 'Reprocess', force })
        .thenNothing();
    for (const force of [false, true]) given(add, start).when({ type: 'Reprocess', force }).thenNothing();
  });
});

describe('changes', () => {
  it('says only what differs', () => {
    given(add)
      .when({ type: 'Update', name: 'a.md', tagIds: [TAG], content: content('h1', 'f2') })
      .thenNothing();
    given(add)
      .when({ type: 'Update', name: 'b.md', tagIds: [OTHER_TAG, OTHER_TAG] })
      .thenSays({ data: { name: 'b.md' } }, { data: { tagIds: [OTHER_TAG], attached: [OTHER_TAG], detached: [TAG] } });
    given(add).when({ type: 'AttachTag', tagId: TAG }).thenNothing();
    given(add)
      .when({ type: 'DetachTag', tagId: TAG })
      .thenSays({ data: { tagIds: [], attached: [], detached: [TAG] } });
  });
  it('names the blobs that new content replaces once the new is served, and all of them at the end', () => {
    const replaced = run(
      ...ready,
      { type: 'Update', content: content('h2', 'f2') },
      start,
      chunked(2),
      indexed(2),
    ).state;
    expect(documentDecider.decide({ type: 'MarkReady', attempt: 2 }, replaced)).toMatchObject([
      { data: { superseded: ['f1', 't1', 'p1', 'c2'] } },
    ]);
    expect(documentDecider.decide({ type: 'Delete' }, replaced)).toMatchObject([
      { data: { tagIds: [TAG], blobs: ['f2', 't2', 'p2', 'f1', 't1', 'p1', 'c2'] } },
    ]);
  });
  it('are rejected for what is not there, and deleting twice is deleting', () => {
    for (const command of [start, { type: 'Delete' }, { type: 'Update', name: 'x' }] as const)
      given().when(command).thenRejected('not_found');
    given(add, { type: 'Delete' }).when({ type: 'Reprocess', force: true }).thenRejected('not_found');
    given(add, { type: 'Delete' }).when({ type: 'Delete' }).thenNothing();
    given(add).when(add).thenRejected('conflict');
  });
});

it('deciding a command again after its events says nothing new, from any state', () => {
  const attempt = fc.integer({ min: 1, max: 3 });
  const tagId = fc.constantFrom(TAG, OTHER_TAG);
  const command: fc.Arbitrary<DocumentCommand> = fc.oneof(
    fc.constantFrom<DocumentCommand>(
      start,
      { type: 'Delete' },
      { type: 'Update', content: content('h2', 'f2') },
      { type: 'Update', content: content('h1', 'f3') },
    ),
    fc.record({ type: fc.constant('Reprocess' as const), force: fc.boolean() }),
    fc.record({ type: fc.constantFrom('AttachTag' as const, 'DetachTag' as const), tagId }),
    fc.record({ type: fc.constant('Update' as const), name: fc.constantFrom('a.md', 'b'), tagIds: fc.array(tagId) }),
    attempt.map((number) => chunked(number)),
    fc.tuple(attempt, fc.constantFrom('b1', 'b2')).map(([number, name]) => embedded(number, name)),
    fc.tuple(attempt, fc.nat(1)).map(([number, last]) => indexed(number, last)),
    attempt.map(failed),
    attempt.map((number): DocumentCommand => ({ type: 'MarkReady', attempt: number })),
    attempt.map((number): DocumentCommand => ({
      type: 'RetryLater',
      attempt: number,
      step: 'embed',
      code: 'x',
      retryAt: '',
    })),
  );
  const decide = (asked: DocumentCommand, state: DocumentState): readonly DocumentEvent[] | 'rejected' => {
    try {
      return documentDecider.decide(asked, state);
    } catch {
      return 'rejected';
    }
  };
  fc.assert(
    fc.property(fc.array(command, { maxLength: 12 }), command, (before, asked) => {
      let state = run(add).state;
      for (const earlier of before) {
        const events = decide(earlier, state);
        if (events !== 'rejected') state = events.reduce(evolve, state);
      }
      const events = decide(asked, state);
      // Each Start is an attempt of its own, as each worker is.
      if (events === 'rejected' || asked.type === 'Start') return;
      expect(decide(asked, events.reduce(evolve, state))).toEqual([]);
    }),
  );
});
