import { idOf, type RecordedEvent } from '@app/kernel';
import { type DocumentEvent, ingestionStep, type StepReport } from '@app/knowledge';
import type { RowProjection } from '@app/projecting';
import { z } from 'zod';

/** One line of a document's ingestion log: ids, codes and numbers, never content. */
export const documentLogRow = z.object({
  documentId: z.string(),
  /** Orders the lines of a document. */
  sequence: z.number().int(),
  at: z.string(),
  event: z.enum(['queued', 'started', 'step', 'indexed', 'editsDropped', 'ready', 'retrying', 'failed']),
  attempt: z.number().int().nullable(),
  step: ingestionStep.nullable(),
  code: z.string().nullable(),
  milliseconds: z.number().int().nullable(),
  /** What a step made: characters, chunks, vectors, stored bodies; how many edits were dropped. */
  produced: z.number().int().nullable(),
  retryAt: z.string().nullable(),
});
export type DocumentLogRow = z.output<typeof documentLogRow>;

/** Lines that one event can have at most. */
const LINES = 10;

/** What ingestion did with each document, until it is deleted. */
export const documentLogs: RowProjection = {
  kind: 'rows',
  name: 'document-logs',
  version: 3,
  perStream: true,
  types: [
    'DocumentAdded',
    'DocumentContentReplaced',
    'DocumentReprocessRequested',
    'DocumentProcessingStarted',
    'DocumentExtracted',
    'DocumentChunked',
    'DocumentIndexed',
    'DocumentReady',
    'DocumentAttemptFailed',
    'DocumentProcessingFailed',
    'DocumentPassagesSwapped',
    'DocumentDeleted',
  ],
  row: documentLogRow,
  indexes: [{ name: 'newest-of-document', fields: [{ field: 'documentId' }, { field: 'sequence', order: 'desc' }] }],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<DocumentEvent>;
    const { stream, revision } = event.context;
    const documentId = idOf(stream);
    if (event.type === 'DocumentDeleted') return [{ op: 'removeWhere', where: { documentId } }];
    return linesOf(event).map((line, index) => {
      const sequence = revision * LINES + index;
      return {
        op: 'put',
        key: `${documentId}/${sequence}`,
        row: { ...blank, documentId, sequence, at: event.context.recordedAt, ...line },
      };
    });
  },
};

const blank = { attempt: null, step: null, code: null, milliseconds: null, produced: null, retryAt: null };

type Line = Pick<DocumentLogRow, 'event'> & Partial<DocumentLogRow>;

const stepLine = (attempt: number, { startedAt, ...report }: StepReport): Line => ({
  event: 'step',
  attempt,
  at: startedAt,
  ...report,
});

const linesOf = (event: RecordedEvent<DocumentEvent>): readonly Line[] => {
  switch (event.type) {
    case 'DocumentProcessingStarted':
      return [{ event: 'started', attempt: event.data.attempt }];
    case 'DocumentExtracted':
    case 'DocumentChunked':
      return [stepLine(event.data.attempt, event.data.report)];
    case 'DocumentIndexed': {
      const { attempt, steps, chunkCount, editsDropped } = event.data;
      return [
        ...steps.map((step) => stepLine(attempt, step)),
        { event: 'indexed', attempt, produced: chunkCount },
        ...(editsDropped === undefined ? [] : [{ event: 'editsDropped' as const, attempt, produced: editsDropped }]),
      ];
    }
    case 'DocumentPassagesSwapped': {
      const { editsDropped } = event.data;
      return editsDropped === undefined ? [] : [{ event: 'editsDropped', produced: editsDropped }];
    }
    case 'DocumentReady':
      return [{ event: 'ready', attempt: event.data.attempt }];
    case 'DocumentAttemptFailed':
      return [{ event: 'retrying', ...event.data }];
    case 'DocumentProcessingFailed':
      return [{ event: 'failed', ...event.data }];
    default:
      return [{ event: 'queued' }];
  }
};
