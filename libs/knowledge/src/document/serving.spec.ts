import type { RecordedEvent } from '@app/kernel';
import { addDocument, DOCUMENT_ID } from '../../../../test/fixtures/document-commands';
import type { DocumentCommand, UpdateChunk } from './document.commands';
import { documentDecider, type DocumentState } from './document.decider';
import type { DocumentEvent } from './document.events';

const [C1, C2] = ['c1', 'c2'];
const report = { step: 'parse', startedAt: '2026-01-01T00:00:00.000Z', milliseconds: 1, produced: 1 } as const;
const attempt = (number: number, edits: object = {}): readonly DocumentCommand[] => [
  { type: 'Start' },
  {
    type: 'MarkChunked',
    attempt: number,
    text: `t${number}`,
    chunks: `c${number}`,
    chunkCount: 2,
    tokenCount: 9,
    chunking: null,
    reports: { parse: report, chunk: report },
  },
  {
    type: 'MarkIndexed',
    attempt: number,
    name: 'a.md',
    passages: `p${number}`,
    embedded: 1,
    embeddingModel: 'm',
    steps: [],
    ...edits,
  },
];
const indexed = [addDocument, ...attempt(1)];
const ready: readonly DocumentCommand[] = [...indexed, { type: 'MarkReady', attempt: 1 }];
const switchTo = (enabled: boolean): DocumentCommand => ({ type: 'Update', enabled });
const edit = (more: Partial<UpdateChunk> = {}): UpdateChunk => ({
  type: 'UpdateChunk',
  chunkId: C1,
  text: 'New.',
  enabled: true,
  edited: true,
  base: 'p1',
  passages: 'e1',
  ...more,
});

const run = (...commands: readonly DocumentCommand[]): DocumentState => {
  let revision = -1;
  return commands.reduce(
    (state, command) =>
      documentDecider.decide(command, state).reduce(
        (folded, event) =>
          documentDecider.evolve(folded, {
            ...event,
            context: { revision: (revision += 1), actor: 'user:u1' },
          } as RecordedEvent<DocumentEvent>),
        state,
      ),
    documentDecider.initial,
  );
};
const given = (...commands: readonly DocumentCommand[]) => ({
  when: (command: DocumentCommand) => ({
    thenSays: (...events: readonly object[]) => {
      const said = documentDecider.decide(command, run(...commands));
      expect(said.map(({ type }) => type)).toEqual(events.map((event) => (event as DocumentEvent).type));
      expect(said).toMatchObject(events);
    },
    thenNothing: () => expect(documentDecider.decide(command, run(...commands))).toEqual([]),
    thenRejected: (code: string) => expect(() => documentDecider.decide(command, run(...commands))).toThrow(code),
  }),
});

describe('a disabled document', () => {
  it('is disabled once, and enabled with what the index is to hold, under the name that it has then', () => {
    given(...ready)
      .when(switchTo(false))
      .thenSays({ type: 'DocumentDisabled' });
    given(...ready, switchTo(false))
      .when(switchTo(false))
      .thenNothing();
    given(...ready)
      .when(switchTo(true))
      .thenNothing();
    given(...ready, switchTo(false))
      .when({ type: 'Update', enabled: true, name: 'b.md', tagIds: [DOCUMENT_ID] })
      .thenSays(
        { type: 'DocumentRenamed' },
        { type: 'DocumentTagsChanged' },
        {
          type: 'DocumentEnabled',
          data: {
            searched: { name: 'b.md', tagIds: [DOCUMENT_ID], passages: 'p1', embeddingModel: 'm', indexedRevision: 5 },
          },
        },
      );
  });

  it('brings nothing back into the index while it waits, or with new content', () => {
    given(...ready, switchTo(false), { type: 'Reprocess', force: true })
      .when(switchTo(true))
      .thenSays({ type: 'DocumentEnabled', data: { searched: null } });
    given(...ready, switchTo(false))
      .when({
        type: 'Update',
        enabled: true,
        content: { mimeType: 'text/plain', sizeBytes: 2, contentHash: 'h2', file: 'f2' },
      })
      .thenSays({ type: 'DocumentContentReplaced' }, { type: 'DocumentEnabled', data: { searched: null } });
    given(...indexed, switchTo(false))
      .when(switchTo(true))
      .thenSays({ type: 'DocumentEnabled', data: { searched: { passages: 'p1' } } });
  });

  it('is ingested, Ready, and kept out of the index', () => {
    const [start, chunked, index] = attempt(2) as [DocumentCommand, DocumentCommand, DocumentCommand];
    given(...ready, switchTo(false), { type: 'Reprocess', force: true }, start, chunked)
      .when(index)
      .thenSays({ type: 'DocumentEmbedded' }, { type: 'DocumentIndexed', data: { enabled: false } });
    expect(
      run(...ready, switchTo(false), { type: 'Reprocess', force: true }, ...attempt(2), {
        type: 'MarkReady',
        attempt: 2,
      }),
    ).toMatchObject({ status: 'Ready', enabled: false });
  });
});

describe('an edited chunk', () => {
  it('is in new passages, which take the place of the old ones at the same revision', () => {
    given(...ready)
      .when(edit())
      .thenSays({
        type: 'DocumentChunkEdited',
        data: {
          chunkId: C1,
          text: 'New.',
          searched: { passages: 'e1', indexedRevision: 5 },
          documentEnabled: true,
          superseded: ['p1'],
        },
      });
    given(...ready, switchTo(false))
      .when(edit())
      .thenSays({ type: 'DocumentChunkEdited', data: { documentEnabled: false } });
    expect(run(...ready, edit())).toMatchObject({ status: 'Ready', indexed: { passages: 'e1', revision: 5 } });
  });

  it('is decided once, on the passages that are served, of a document that is Ready', () => {
    given(...ready, edit())
      .when(edit())
      .thenNothing();
    given(...ready, edit())
      .when(edit({ chunkId: C2, passages: 'e2' }))
      .thenRejected('conflict');
    given(...ready, edit())
      .when(edit({ chunkId: C2, base: 'e1', passages: 'e2' }))
      .thenSays({ type: 'DocumentChunkEdited', data: { superseded: ['e1'] } });
    for (const before of [[addDocument], indexed, [...ready, { type: 'Reprocess', force: true } as const]])
      given(...before)
        .when(edit())
        .thenRejected('conflict');
    given(...ready, { type: 'Delete' })
      .when(edit())
      .thenRejected('not_found');
  });

  it('is remembered until it is as it was, or its chunk is gone', () => {
    const editedAfter = (...commands: readonly DocumentCommand[]) => {
      const state = run(...ready, ...commands);
      return 'editedChunks' in state ? [...state.editedChunks] : [];
    };
    expect(editedAfter(edit({ text: null, enabled: false, edited: false }))).toEqual([C1]);
    expect(
      editedAfter(
        edit({ text: null, enabled: false, edited: false }),
        edit({ text: null, edited: false, base: 'e1', passages: 'e2' }),
      ),
    ).toEqual([]);
    const again: DocumentCommand = { type: 'Reprocess', force: true };
    expect(editedAfter(edit(), again)).toEqual([C1]);
    expect(editedAfter(edit(), again, ...attempt(2, { editedChunks: [C1] }))).toEqual([C1]);
    expect(editedAfter(edit(), again, ...attempt(2, { editsDropped: 1 }))).toEqual([]);
  });

  it('goes with its document', () =>
    given(...ready, edit())
      .when({ type: 'Delete' })
      .thenSays({ type: 'DocumentDeleted', data: { blobs: expect.arrayContaining(['f1', 't1', 'e1']) as string[] } }));
});
