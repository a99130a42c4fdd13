import { never, type RecordedEvent } from '@app/kernel';
import { List, Set as PersistentSet } from 'immutable';
import { standbyBlobs, type DocumentBlobs, swapped } from './document-blobs';
import type { PassagesCommand } from './document.commands';
import type { DocumentState, LiveDocument } from './document.decider';
import type { DocumentEvent } from './document.events';

type Live = Extract<DocumentState, LiveDocument>;
type ReindexEvent = Extract<
  DocumentEvent,
  {
    type: 'DocumentReindexEmbedded' | 'DocumentReindexed' | 'DocumentPassagesSwapped' | 'DocumentReindexDiscarded';
  }
>;

/**
 * The events of a re-index on a document, which stays Ready: searches do not change until its passages are swapped.
 * None if the document is not Ready, or has other passages than at the beginning of the job.
 */
export const decideReindex = (command: PassagesCommand, state: Live): readonly DocumentEvent[] => {
  switch (command.type) {
    case 'KeepReindexBatch': {
      const { jobId, passages, count, embeddingModel } = command;
      const isKnown = state.embeddedStandby?.batches.some((batch) => batch.passages === passages) === true;
      return state.status === 'Ready' && !isKnown
        ? [{ type: 'DocumentReindexEmbedded', data: { jobId, passages, count, embeddingModel } }]
        : [];
    }
    case 'KeepReindexed': {
      const { type: _, editedChunks, editsDropped = 0, ...rest } = command;
      const made = {
        ...rest,
        ...(editedChunks === undefined ? {} : { editedChunks: [...editedChunks] }),
        ...(editsDropped === 0 ? {} : { editsDropped }),
      };
      const isCurrent = state.status === 'Ready' && state.indexed?.passages === made.of;
      if (!isCurrent || state.standby?.passages === made.passages) return [];
      const superseded = standbyBlobs(state).filter((name) => name !== made.text && name !== made.passages);
      return [{ type: 'DocumentReindexed', data: { ...made, superseded } }];
    }
    case 'SwapPassages':
      return swap(command, state);
    case 'DiscardReindexed':
      return discard(command, state);
    default:
      return never(command);
  }
};

const swap = (
  { jobId, to }: Extract<PassagesCommand, { type: 'SwapPassages' }>,
  { status, enabled, indexed, standby, documentId, scope, spaceId, agentId, name, tagIds }: Live,
): readonly DocumentEvent[] => {
  const isPossible = status === 'Ready' && indexed !== null && standby?.of === indexed.passages;
  if (!isPossible || standby.jobId !== jobId || standby.isEarlier !== (to === 'earlier')) return [];
  const { text, passages, chunkCount, tokenCount, chunking, model: embeddingModel } = standby;
  const place = { documentId, scope, spaceId, agentId, name, tagIds: [...tagIds] };
  const cut = { text, passages, chunkCount, tokenCount, chunking, embeddingModel };
  const { revision: indexedRevision } = indexed;
  const { editedChunks, editsDropped } = standby;
  const marks = {
    ...(editedChunks === undefined ? {} : { editedChunks: [...editedChunks] }),
    ...(editsDropped === undefined ? {} : { editsDropped }),
    ...(enabled ? {} : { enabled }),
  };
  return [{ type: 'DocumentPassagesSwapped', data: { jobId, to, ...place, indexedRevision, ...cut, ...marks } }];
};

const discard = (
  { jobId, of, later = [] }: Extract<PassagesCommand, { type: 'DiscardReindexed' }>,
  state: Live,
): readonly DocumentEvent[] => {
  const { standby, embeddedStandby } = state;
  const isMeant = (made: { readonly jobId: string } | null): boolean =>
    made !== null && (made.jobId === jobId) === (of === 'job') && !later.includes(made.jobId);
  // Passages that are not meant outlast batches that are: the next ones name those as superseded.
  const isHeld = standby !== null && (!isMeant(standby) || (of === 'job' && standby.isEarlier));
  if (isHeld || (!isMeant(standby) && !isMeant(embeddedStandby))) return [];
  const isKept = embeddedStandby !== null && !isMeant(embeddedStandby);
  const superseded = standbyBlobs(isKept ? { ...state, embeddedStandby: null } : state);
  return [
    {
      type: 'DocumentReindexDiscarded',
      data: { jobId, superseded, ...(isKept ? { keepsBatches: true as const } : {}) },
    },
  ];
};

/** Whether a document does not yet have the passages that its job decided on, but has them on standby. */
export const isLeftOut = (state: DocumentState, jobId: string, to: 'new' | 'earlier'): boolean =>
  state.status === 'Ready' && state.standby?.jobId === jobId && state.standby.isEarlier === (to === 'earlier');

/** What an event of a re-index changes in a document. */
export const reindexing = (state: LiveDocument, { type, data }: RecordedEvent<ReindexEvent>): Partial<LiveDocument> => {
  switch (type) {
    case 'DocumentReindexEmbedded': {
      const { jobId, passages, embeddingModel: model } = data;
      const { embeddedStandby } = state;
      const before: DocumentBlobs['embeddedStandby'] =
        embeddedStandby?.jobId === jobId ? embeddedStandby : { jobId, batches: List() };
      const left = embeddedStandby === null || embeddedStandby.jobId === jobId ? [] : embeddedStandby.batches;
      return {
        embeddedStandby: { jobId, batches: before.batches.push({ passages, model }) },
        superseded: state.superseded.push(...[...left].map((batch) => batch.passages)),
      };
    }
    case 'DocumentReindexed': {
      const { superseded: _, embeddingModel: model, isEarlier = false, ...made } = data;
      return { standby: { ...made, model, isEarlier }, embeddedStandby: null };
    }
    case 'DocumentPassagesSwapped':
      return {
        ...(state.indexed === null || state.standby === null
          ? {}
          : swapped(state.indexed, state.standby, [...state.editedChunks])),
        ...(data.editedChunks === undefined ? {} : { editedChunks: PersistentSet(data.editedChunks) }),
      };
    case 'DocumentReindexDiscarded':
      return { standby: null, ...(data.keepsBatches === true ? {} : { embeddedStandby: null }) };
    default:
      return never(type);
  }
};
