import type { RecordedEvent } from '@app/kernel';
import { type DocumentEvent, documentEvents } from '@app/knowledge';
import { documentLogs } from '@projections/document-logs';
import { ingestionQueue } from '@projections/ingestion-queue';
import { namedBlobs } from '@projections/named-blobs';
import { passages } from '@projections/passages';
import { tags } from '@projections/tags';
import { documents } from './documents.projection';

const [ID, AGENT, SPACE, TAG] = ['1', '2', '3', '4'].map((n) => `01900000-0000-7000-8000-00000000000${n}`) as [
  string,
  string,
  string,
  string,
];
const erased = { erased: true } as const;

const at = (revision: number, event: object): RecordedEvent =>
  ({
    ...event,
    context: { stream: `document-${ID}`, actor: 'user:u1', revision, recordedAt: `2026-01-01T00:00:0${revision}.000Z` },
  }) as RecordedEvent<DocumentEvent>;
const added = (given: object = {}) =>
  at(0, {
    type: 'DocumentAdded',
    data: {
      documentId: ID,
      scope: 'agent',
      spaceId: SPACE,
      agentId: AGENT,
      name: 'a.md',
      mimeType: 'text/plain',
      sizeBytes: 1,
      contentHash: 'h',
      provider: 'inline',
      file: 'f',
      tagIds: [TAG],
      ...given,
    },
  });
const indexed = (given: object = {}) =>
  at(2, {
    type: 'DocumentIndexed',
    data: {
      attempt: 1,
      documentId: ID,
      scope: 'agent',
      spaceId: SPACE,
      agentId: AGENT,
      name: 'a.md',
      tagIds: [TAG],
      text: 't',
      passages: 'p',
      chunkCount: 2,
      tokenCount: 9,
      embeddingModel: 'm',
      steps: [{ step: 'parse', startedAt: '2026-01-01T00:00:01.000Z', milliseconds: 1, produced: 5 }],
      ...given,
    },
  });

describe('a document in its views', () => {
  it.each([
    ['agent', `a:${AGENT}`],
    ['space', `s:${SPACE}`],
    ['global', 'g'],
  ])('stands at the level of its scope: %s', (scope, place) => {
    expect(documents.apply(added({ scope }))).toMatchObject([
      { op: 'put', key: ID, row: { place, status: 'Pending', lastModified: '2026-01-01T00:00:00.000Z', revision: 0 } },
    ]);
    expect(passages.apply(indexed({ scope }))).toMatchObject([
      { op: 'putDocument', scope: place, passages: 'p', stream: `document-${ID}`, revision: 2 },
    ]);
  });

  it("is Ready only when that is said, and people's changes alone move lastModified", () => {
    const fields = (event: RecordedEvent) =>
      documents.apply(event).map((operation) => (operation.op === 'patch' ? operation.fields : operation));
    expect(fields(indexed())).toEqual([
      {
        text: 't',
        passages: 'p',
        chunkCount: 2,
        tokenCount: 9,
        chunking: null,
        embeddingModel: 'm',
        indexedRevision: 2,
        revision: 2,
      },
    ]);
    expect(fields(at(3, { type: 'DocumentReady', data: { attempt: 1, superseded: [] } }))).toEqual([
      { status: 'Ready', failure: null, revision: 3 },
    ]);
    expect(fields(at(4, { type: 'DocumentRenamed', data: { name: 'b' } }))).toEqual([
      { name: 'b', lastModified: '2026-01-01T00:00:04.000Z', revision: 4 },
    ]);
    expect(
      fields(
        at(5, {
          type: 'DocumentAttemptFailed',
          data: { attempt: 2, step: 'embed', code: 'upstream_error', retryAt: 'later' },
        }),
      ),
    ).toEqual([{ status: 'Pending', failure: { code: 'upstream_error', step: 'embed', attempt: 2 }, revision: 5 }]);
  });

  it('leaves every view with its deletion, and search also when it failed or is worked on again', () => {
    const deleted = at(9, { type: 'DocumentDeleted', data: { tagIds: [TAG], blobs: ['f'] } });
    expect([documents, ingestionQueue].map((view) => view.apply(deleted))).toEqual([
      [{ op: 'remove', key: ID }],
      [{ op: 'remove', key: ID }],
    ]);
    expect(documentLogs.apply(deleted)).toEqual([{ op: 'removeWhere', where: { documentId: ID } }]);
    expect(tags.apply(deleted)).toEqual([{ op: 'increment', key: TAG, field: 'documentCount', by: -1 }]);
    for (const event of [
      deleted,
      at(9, { type: 'DocumentProcessingFailed', data: { attempt: 1, step: 'parse', code: 'invalid_text' } }),
      at(9, { type: 'DocumentProcessingStarted', data: { attempt: 2 } }),
    ])
      expect(passages.apply(event)).toEqual([{ op: 'removeDocument', documentId: ID }]);
  });

  it('is in the index only while it is enabled, with its passages as they were edited', () => {
    const searched = {
      documentId: ID,
      scope: 'agent',
      spaceId: SPACE,
      agentId: AGENT,
      name: 'a.md',
      tagIds: [TAG],
      passages: 'p2',
      embeddingModel: 'm',
      indexedRevision: 2,
    };
    const put = { op: 'putDocument', documentId: ID, scope: `a:${AGENT}`, passages: 'p2', revision: 2 };
    expect(passages.apply(indexed({ enabled: false }))).toEqual([]);
    const disabled = at(3, { type: 'DocumentDisabled', data: {} });
    expect(passages.apply(disabled)).toEqual([{ op: 'removeDocument', documentId: ID }]);
    expect(documents.apply(disabled)).toMatchObject([{ fields: { disabled: true } }]);
    const enabled = (of: object | null) => at(4, { type: 'DocumentEnabled', data: { searched: of } });
    expect(passages.apply(enabled(searched))).toMatchObject([put]);
    expect(passages.apply(enabled(null))).toEqual([]);
    expect(documents.apply(enabled(null))).toMatchObject([{ fields: { disabled: null } }]);
    const edited = (documentEnabled: boolean) =>
      at(5, {
        type: 'DocumentChunkEdited',
        data: { chunkId: ID, text: 'x', enabled: true, edited: true, searched, documentEnabled, superseded: ['p'] },
      });
    expect(passages.apply(edited(true))).toMatchObject([put]);
    expect(passages.apply(edited(false))).toEqual([]);
    expect(documents.apply(edited(true))).toMatchObject([{ fields: { passages: 'p2' } }]);
    expect(namedBlobs(documentEvents).apply(edited(true))).toEqual(
      expect.arrayContaining([
        { op: 'put', key: 'p2', row: { documentId: ID } },
        { op: 'remove', key: 'p' },
      ]),
    );
  });

  it('is not searched once its name is erased, and keeps its row', () => {
    expect(passages.apply(indexed({ name: erased }))).toEqual([{ op: 'removeDocument', documentId: ID }]);
    expect(documents.apply(added({ name: erased, contentHash: erased }))).toMatchObject([
      { row: { name: erased, contentHash: erased } },
    ]);
  });

  it('waits in the queue until it is Ready or Failed, after a failure until the next attempt', () => {
    expect(ingestionQueue.apply(added())).toEqual([
      {
        op: 'put',
        key: ID,
        row: {
          documentId: ID,
          spaceId: SPACE,
          userId: expect.any(String),
          notBefore: '2026-01-01T00:00:00.000Z',
          open: true,
        },
      },
    ]);
    expect(
      ingestionQueue.apply(
        at(3, { type: 'DocumentAttemptFailed', data: { attempt: 1, step: 'embed', code: 'x', retryAt: 'later' } }),
      ),
    ).toEqual([{ op: 'patch', key: ID, fields: { notBefore: 'later', open: true } }]);
    for (const type of ['DocumentReady', 'DocumentProcessingFailed'])
      expect(ingestionQueue.apply(at(4, { type, data: {} }))).toEqual([
        { op: 'patch', key: ID, fields: { open: false } },
      ]);
    expect(ingestionQueue.apply(added({ scope: 'global', spaceId: null }))).toMatchObject([{ row: { spaceId: '' } }]);
  });

  it('names its blobs until newer ones are served or it is deleted', () => {
    const named = namedBlobs(documentEvents);
    expect([added(), indexed()].flatMap((event) => named.apply(event))).toEqual(
      ['f', 't', 'p'].map((key) => ({ op: 'put', key, row: { documentId: ID } })),
    );
    expect(named.apply(at(3, { type: 'DocumentReady', data: { attempt: 1, superseded: ['s'] } }))).toEqual([
      { op: 'remove', key: 's' },
    ]);
    expect(named.apply(at(9, { type: 'DocumentDeleted', data: { tagIds: [], blobs: ['f', 't'] } }))).toEqual([
      { op: 'remove', key: 'f' },
      { op: 'remove', key: 't' },
    ]);
  });

  it('has a log line for every step', () => {
    expect(documentLogs.apply(indexed())).toMatchObject([
      { key: `${ID}/20`, row: { event: 'step', step: 'parse', produced: 5 } },
      { key: `${ID}/21`, row: { event: 'indexed', produced: 2 } },
    ]);
    expect(documentLogs.apply(indexed({ editsDropped: 3 })).at(-1)).toMatchObject({
      row: { event: 'editsDropped', produced: 3 },
    });
  });

  it('counts for its tags as they come and go', () => {
    expect(
      tags.apply(at(3, { type: 'DocumentTagsChanged', data: { tagIds: ['b'], attached: ['b'], detached: [TAG] } })),
    ).toEqual([
      { op: 'increment', key: 'b', field: 'documentCount', by: 1 },
      { op: 'increment', key: TAG, field: 'documentCount', by: -1 },
    ]);
  });

  it('is searched no more the moment its Agent or Space is deleted', () => {
    const gone = (type: string, stream: string) =>
      passages.apply({ type, data: {}, context: { ...added().context, stream } });
    expect(gone('AgentDeleted', `agent-${AGENT}`)).toEqual([{ op: 'removeScope', scope: `a:${AGENT}` }]);
    expect(gone('SpaceDeleted', `space-${SPACE}`)).toEqual([{ op: 'removeScope', scope: `s:${SPACE}` }]);
  });
});
