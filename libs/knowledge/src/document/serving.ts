import { isErased, nameId, reject } from '@app/kernel';
import type { DocumentCommand, UpdateChunk, Retitle } from './document.commands';
import type { DocumentState, LiveDocument } from './document.decider';
import type { DocumentEvent, Searched } from './document.events';

type Live = Exclude<DocumentState, { status: 'Absent' | 'Deleted' }>;

/** The last batch has no blob of its own: it is named in the one of all passages. */
export const indexed = (
  command: DocumentCommand & { readonly type: 'MarkIndexed' },
  { documentId, scope, spaceId, agentId, name, tagIds, enabled, extracted: text, chunked }: Live,
): readonly DocumentEvent[] => {
  if (text === null || chunked === null) return [];
  // It was renamed since: the next attempt embeds what has another title now.
  if (!isErased(name) && command.name !== name) return [];
  const { attempt, passages, embedded, embeddingModel, steps, editedChunks = [], editsDropped = 0 } = command;
  const { chunkCount, tokenCount, chunking } = chunked;
  const place = { documentId, scope, spaceId, agentId, name, tagIds: [...tagIds] };
  const edits = {
    ...(enabled ? {} : { enabled: false as const }),
    ...(editedChunks.length === 0 ? {} : { editedChunks: [...editedChunks] }),
    ...(editsDropped === 0 ? {} : { editsDropped }),
  };
  const made = { text, passages, chunkCount, tokenCount, chunking, embeddingModel, steps: [...steps] };
  return [
    ...(embedded === 0
      ? []
      : [{ type: 'DocumentEmbedded' as const, data: { attempt, passages, count: embedded, embeddingModel } }]),
    { type: 'DocumentIndexed', data: { attempt, ...place, ...made, ...edits } },
  ];
};

/** What the index holds, or is about to hold, of a document; null where that is nothing. */
const searchedOf = (state: Live): Searched | null => {
  const { status, indexed, documentId, scope, spaceId, agentId, name, tagIds } = state;
  if (indexed === null || (status !== 'Ready' && status !== 'Indexed')) return null;
  const { passages, model: embeddingModel, revision: indexedRevision } = indexed;
  const place = { documentId, scope, spaceId, agentId, name, tagIds: [...tagIds] };
  return { ...place, passages, embeddingModel, indexedRevision };
};

/** `after`: the document as the events before this one leave it. */
export const switched = (enabled: boolean | undefined, state: Live, after: Live): readonly DocumentEvent[] => {
  if (enabled === undefined || enabled === state.enabled) return [];
  return enabled
    ? [{ type: 'DocumentEnabled', data: { searched: searchedOf(after) } }]
    : [{ type: 'DocumentDisabled', data: {} }];
};

/** Only what is served can be edited: chunks of a document that waits are about to be others. */
export const chunkEdited = (command: UpdateChunk, state: Live): readonly DocumentEvent[] => {
  const { type: _, base, passages, ...edit } = command;
  const searched = searchedOf(state);
  if (state.status !== 'Ready' || searched === null) return reject('conflict', { reason: 'document_not_ready' });
  if (searched.passages === passages) return [];
  if (searched.passages !== base) return reject('conflict', { reason: 'concurrent_changes' });
  const data = { ...edit, searched: { ...searched, passages }, documentEnabled: state.enabled, superseded: [base] };
  return [{ type: 'DocumentChunkEdited', data }];
};

/**
 * Nothing if other passages are served now, or if the document has another name: what was made for them is of no use.
 */
export const retitled = ({ name, base, passages }: Retitle, state: Live): readonly DocumentEvent[] => {
  const searched = searchedOf(state);
  if (searched?.passages !== base || state.name !== name) return [];
  const { embeddedStandby } = state;
  const batches = embeddedStandby?.jobId === retitlingOf(state.documentId, name) ? embeddedStandby.batches : [];
  const superseded = [base, ...[...batches].map((batch) => batch.passages)];
  return [
    {
      type: 'DocumentRetitled',
      data: { searched: { ...searched, passages }, documentEnabled: state.enabled, superseded },
    },
  ];
};

/** Batches that are embedded with a new name are stored like those of a re-index, of a job with this id. */
export const retitlingOf = (documentId: string, name: string): string => nameId(documentId, `retitle/${name}`);

const SERVING = ['DocumentDisabled', 'DocumentEnabled', 'DocumentChunkEdited', 'DocumentRetitled'] as const;
type ServingEvent = Extract<DocumentEvent, { type: (typeof SERVING)[number] }>;

export const isServing = <E extends Pick<DocumentEvent, 'type'>>(
  event: E,
): event is Extract<E, { type: ServingEvent['type'] }> => (SERVING as readonly string[]).includes(event.type);

/** What these events change in a document. */
export const serving = (
  { indexed: served, editedChunks, embeddedStandby }: LiveDocument,
  event: ServingEvent,
): Partial<LiveDocument> => {
  if (event.type === 'DocumentRetitled') {
    const { searched, superseded } = event.data;
    const isDone = embeddedStandby?.batches.every(({ passages }) => superseded.includes(passages)) === true;
    return {
      indexed: served && { ...served, passages: searched.passages },
      embeddedStandby: isDone ? null : embeddedStandby,
    };
  }
  if (event.type !== 'DocumentChunkEdited') return { enabled: event.type === 'DocumentEnabled' };
  const { chunkId, enabled, edited, searched } = event.data;
  return {
    indexed: served && { ...served, passages: searched.passages },
    editedChunks: edited || !enabled ? editedChunks.add(chunkId) : editedChunks.delete(chunkId),
  };
};
