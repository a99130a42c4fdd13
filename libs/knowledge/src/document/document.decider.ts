import { isErased, never, reject, type Decider, type RecordedEvent, type Sensitive } from '@app/kernel';
import { Set as PersistentSet } from 'immutable';
import {
  allBlobs,
  blobsOfNew,
  type DocumentBlobs,
  fromTheStart,
  withChunks,
  withEmbedded,
  withFile,
  withIndexed,
  withText,
} from './document-blobs';
import { type Requester, requesterOf } from './requester';
import type { CreateDocument, DocumentCommand, ReplacementContent } from './document.commands';
import type { DocumentEvent, DocumentScope } from './document.events';
import { decideReindex, reindexing } from './document-reindex';
import { chunkEdited, indexed, isServing, retitled, serving, switched } from './serving';

/** A document that is there. */
export interface LiveDocument extends DocumentBlobs {
  readonly documentId: string;
  readonly scope: DocumentScope;
  readonly spaceId: string | null;
  readonly agentId: string | null;
  readonly name: Sensitive<string>;
  readonly mimeType: string;
  readonly contentHash: Sensitive<string>;
  /** Hash of the content that was last Ready. Reprocessing without force compares with it. */
  readonly readyHash: Sensitive<string> | null;
  readonly tagIds: readonly string[];
  /** A disabled document answers nothing, and is ingested like any other. */
  readonly enabled: boolean;
  /** Chunks of what is indexed whose text was edited, or that were disabled. */
  readonly editedChunks: PersistentSet<string>;
  /** Number of the last attempt, 0 before the first. Reports of older ones are ignored. */
  readonly attempt: number;
  /** Attempts in a row that failed for temporary reasons. */
  readonly failures: number;
  /** Who added or changed the present content: its embedding counts for them. */
  readonly askedBy: Requester;
}

/** Most tags of a document, of all Spaces together. */
export const MOST_TAGS = 100;

/** Indexed is the last part of Processing: stored, and waiting for the search index. The API shows Processing. */
export type DocumentState =
  | { readonly status: 'Absent' }
  | ({ readonly status: 'Pending' | 'Processing' | 'Indexed' | 'Ready' | 'Failed' } & LiveDocument)
  | ({ readonly status: 'Deleted' } & Pick<LiveDocument, 'scope' | 'spaceId' | 'agentId'>);

/**
 * Pending -> Processing -> Ready | Failed; Ready and Failed go back to Pending on new content or on reprocessing. The
 * attempt number fences workers: one that lost its lease reports an older attempt, which is ignored. Throws `not_found` (also
 * for deleted documents) and `conflict`.
 */
export const documentDecider: Decider<DocumentState, DocumentCommand, DocumentEvent> = {
  category: 'document',
  initial: { status: 'Absent' },
  decide: (command, state) => {
    if (command.type === 'Add')
      return state.status === 'Absent' ? [added(command)] : reject('conflict', { reason: 'exists' });
    if (state.status === 'Deleted' && command.type === 'Delete') return [];
    if (state.status === 'Absent' || state.status === 'Deleted') return reject('not_found');
    return decideLive(command, state);
  },
  evolve: (state, event) => {
    if (event.type === 'DocumentAdded') {
      return {
        status: 'Pending',
        ...event.data,
        ...blobsOfNew(event.data.file),
        readyHash: null,
        enabled: true,
        editedChunks: PersistentSet(),
        attempt: 0,
        failures: 0,
        askedBy: requesterOf(event),
      };
    }
    if (state.status === 'Absent' || state.status === 'Deleted') return state;
    const { scope, spaceId, agentId } = state;
    return event.type === 'DocumentDeleted' ? { status: 'Deleted', scope, spaceId, agentId } : evolveLive(state, event);
  },
  owner: (event) =>
    event.type === 'DocumentAdded' && event.data.spaceId !== null ? { spaceId: event.data.spaceId } : {},
};

type Live = Exclude<DocumentState, { status: 'Absent' | 'Deleted' }>;

const decideLive = (command: Exclude<DocumentCommand, { type: 'Add' }>, state: Live): readonly DocumentEvent[] => {
  if ('attempt' in command) return decideAttempt(command, state);
  if ('jobId' in command) return decideReindex(command, state);
  switch (command.type) {
    case 'Update':
      return updated(command, state);
    case 'UpdateChunk':
      return chunkEdited(command, state);
    case 'Retitle':
      return retitled(command, state);
    case 'AttachTag':
      return retagged([...state.tagIds, command.tagId], state);
    case 'DetachTag':
      return retagged(
        state.tagIds.filter((tagId) => tagId !== command.tagId),
        state,
      );
    case 'Reprocess':
      return reprocessed(command.force, state);
    case 'Start':
      return state.status === 'Pending' || state.status === 'Processing'
        ? [{ type: 'DocumentProcessingStarted', data: { attempt: state.attempt + 1 } }]
        : [];
    case 'Delete':
      if (command.contentHash !== undefined && isOther(command.contentHash, state)) return [];
      return [{ type: 'DocumentDeleted', data: { tagIds: [...state.tagIds], blobs: allBlobs(state) } }];
    default:
      return never(command);
  }
};

/** What a worker reports of its attempt; nothing if there is a newer one. */
const decideAttempt = (
  command: Extract<DocumentCommand, { readonly attempt: number }>,
  state: Live,
): readonly DocumentEvent[] => {
  switch (command.type) {
    case 'MarkChunked': {
      const { type: _, text, reports, ...chunked } = command;
      const { attempt } = chunked;
      if (!isCurrent('Processing', attempt, state) || state.chunked?.chunks === chunked.chunks) return [];
      return [
        { type: 'DocumentExtracted', data: { attempt, text, report: reports.parse } },
        { type: 'DocumentChunked', data: { ...chunked, report: reports.chunk } },
      ];
    }
    case 'MarkEmbedded': {
      const { type: _, ...embedded } = command;
      const isKnown = state.embedded.some(({ passages }) => passages === command.passages);
      return isCurrent('Processing', command.attempt, state) && !isKnown
        ? [{ type: 'DocumentEmbedded', data: embedded }]
        : [];
    }
    case 'MarkIndexed':
      return isCurrent('Processing', command.attempt, state) ? indexed(command, state) : [];
    case 'MarkReady':
      return isCurrent('Indexed', command.attempt, state)
        ? [{ type: 'DocumentReady', data: { attempt: command.attempt, superseded: [...state.superseded] } }]
        : [];
    case 'RetryLater': {
      const { attempt, step, code, retryAt } = command;
      return isCurrent('Processing', attempt, state)
        ? [{ type: 'DocumentAttemptFailed', data: { attempt, step, code, retryAt } }]
        : [];
    }
    case 'Fail': {
      const { attempt, step, code } = command;
      const current = isCurrent('Processing', attempt, state) || isCurrent('Indexed', attempt, state);
      return current ? [{ type: 'DocumentProcessingFailed', data: { attempt, step, code } }] : [];
    }
    default:
      return never(command);
  }
};

const added = ({ type: _type, tagIds, ...document }: CreateDocument & { readonly type: 'Add' }): DocumentEvent => ({
  type: 'DocumentAdded',
  data: { ...document, tagIds: [...new Set(tagIds)] },
});

const updated = (
  { name, tagIds: given, tagsKnown, content, enabled }: DocumentCommand & { readonly type: 'Update' },
  state: Live,
): readonly DocumentEvent[] => {
  const others = tagsKnown === undefined ? [] : state.tagIds.filter((tagId) => !tagsKnown.has(tagId));
  const tagIds = given && [...given, ...others];
  const replacing = replaced(content, state);
  const status = replacing.length > 0 ? ('Pending' as const) : state.status;
  const after = { ...state, status, name: name ?? state.name, tagIds: [...new Set(tagIds ?? state.tagIds)] };
  return [...renamed(name, state), ...retagged(tagIds, state), ...replacing, ...switched(enabled, state, after)];
};

const renamed = (name: string | undefined, state: Live): readonly DocumentEvent[] =>
  name === undefined || name === state.name ? [] : [{ type: 'DocumentRenamed', data: { name } }];

const retagged = (wanted: readonly string[] | undefined, state: Live): readonly DocumentEvent[] => {
  if (wanted === undefined) return [];
  const tagIds = [...new Set(wanted)];
  const attached = tagIds.filter((tagId) => !state.tagIds.includes(tagId));
  if (attached.length > 0 && tagIds.length > MOST_TAGS) reject('conflict', { reason: 'too_many_tags' });
  const detached = state.tagIds.filter((tagId) => !tagIds.includes(tagId));
  return attached.length + detached.length === 0
    ? []
    : [{ type: 'DocumentTagsChanged', data: { tagIds, attached, detached } }];
};

/** Equal content changes nothing, unless the document failed with it: then it is tried again, with the file that was sent now. */
const replaced = (content: ReplacementContent | undefined, state: Live): readonly DocumentEvent[] => {
  const isKnown = content?.contentHash === state.contentHash && content.mimeType === state.mimeType;
  return content === undefined || (isKnown && state.status !== 'Failed')
    ? []
    : [{ type: 'DocumentContentReplaced', data: { ...content } }];
};

/** `force` only skips the comparison of content. A waiting document is not queued twice. */
const reprocessed = (forced: boolean, state: Live): readonly DocumentEvent[] => {
  if (state.status === 'Pending' || state.status === 'Processing' || state.status === 'Indexed') return [];
  const unchanged = state.status === 'Ready' && state.readyHash === state.contentHash;
  return unchanged && !forced ? [] : [{ type: 'DocumentReprocessRequested', data: { forced } }];
};

const isOther = (contentHash: string, state: Live): boolean =>
  !isErased(state.contentHash) && state.contentHash !== contentHash;

const isCurrent = (status: Live['status'], attempt: number, state: Live): boolean =>
  state.status === status && state.attempt === attempt;

const evolveLive = (
  state: Live,
  event: Exclude<RecordedEvent<DocumentEvent>, { type: 'DocumentAdded' | 'DocumentDeleted' }>,
): DocumentState => {
  if (isServing(event)) return { ...state, ...serving(state, event) };
  switch (event.type) {
    case 'DocumentRenamed':
      return { ...state, name: event.data.name };
    case 'DocumentTagsChanged':
      return { ...state, tagIds: event.data.tagIds };
    case 'DocumentContentReplaced': {
      const { mimeType, contentHash, file } = event.data;
      return {
        ...state,
        status: 'Pending',
        mimeType,
        contentHash,
        failures: 0,
        askedBy: requesterOf(event),
        ...withFile(state, file),
      };
    }
    case 'DocumentReprocessRequested': {
      const again = event.data.forced ? fromTheStart(state) : {};
      return { ...state, ...again, status: 'Pending', failures: 0, askedBy: requesterOf(event) };
    }
    case 'DocumentProcessingStarted':
      return { ...state, status: 'Processing', attempt: event.data.attempt };
    case 'DocumentExtracted':
      return { ...state, ...withText(state, event.data.text) };
    case 'DocumentChunked': {
      const { chunks, chunkCount, tokenCount, chunking = null } = event.data;
      return { ...state, ...withChunks(state, { chunks, chunkCount, tokenCount, chunking }) };
    }
    case 'DocumentEmbedded': {
      const { passages, embeddingModel: model } = event.data;
      return { ...state, ...withEmbedded(state, { passages, model }) };
    }
    case 'DocumentIndexed': {
      const { text, passages, chunkCount, tokenCount, chunking = null, embeddingModel: model } = event.data;
      const { revision } = event.context;
      const cut = { text, passages, chunkCount, tokenCount, chunking, model };
      const editedChunks = PersistentSet(event.data.editedChunks);
      return {
        ...state,
        ...withIndexed(state, { ...cut, isReusable: true, revision }),
        editedChunks,
        status: 'Indexed',
      };
    }
    case 'DocumentReady':
      return {
        ...state,
        status: 'Ready',
        readyHash: state.contentHash,
        failures: 0,
        superseded: state.superseded.clear(),
      };
    case 'DocumentAttemptFailed':
      return { ...state, status: 'Pending', failures: state.failures + 1 };
    case 'DocumentProcessingFailed':
      return { ...state, status: 'Failed' };
    default:
      return { ...state, ...reindexing(state, event) };
  }
};
