import { never, reject, type Decider, type RecordedEvent, type Sensitive } from '@app/kernel';
import { List } from 'immutable';
import type { DocumentEvent, DocumentScope, IngestionStep, StepReport } from './document.events';

interface Indexed {
  readonly text: string;
  readonly passages: string;
  /** Revision of the document at which these passages were indexed: what citations pin. */
  readonly revision: number;
}

/** The blobs of a document. `indexed` is what the search index serves, or is about to serve. */
interface Held {
  readonly file: string;
  readonly indexed: Indexed | null;
  /** Blobs that new ones replace, to be named when the new ones are served. */
  readonly superseded: List<string>;
}

export interface LiveDocument extends Held {
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
  /** Number of the last attempt, 0 before the first. Reports of older ones are ignored. */
  readonly attempt: number;
  /** Attempts in a row that failed for temporary reasons. */
  readonly failures: number;
  /** Who added or changed the present content: its embedding counts for them. */
  readonly askedBy: { readonly userId: string; readonly keyId?: string };
}

/** Indexed is the last part of Processing: stored, and waiting for the search index. The API shows Processing. */
export type DocumentState =
  | { readonly status: 'Absent' }
  | ({ readonly status: 'Pending' | 'Processing' | 'Indexed' | 'Ready' | 'Failed' } & LiveDocument)
  | { readonly status: 'Deleted' };

export interface CreateDocument {
  readonly documentId: string;
  readonly scope: DocumentScope;
  readonly spaceId: string | null;
  readonly agentId: string | null;
  readonly name: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly contentHash: string;
  readonly provider: 'upload' | 'inline';
  readonly file: string;
  readonly tagIds: readonly string[];
}

export interface ReplacementContent {
  readonly mimeType: string;
  readonly sizeBytes: number;
  readonly contentHash: string;
  readonly file: string;
}

export type DocumentCommand =
  | ({ readonly type: 'Add' } & CreateDocument)
  | {
      readonly type: 'Update';
      readonly name?: string;
      readonly tagIds?: readonly string[];
      readonly content?: ReplacementContent;
    }
  | { readonly type: 'AttachTag' | 'DetachTag'; readonly tagId: string }
  | { readonly type: 'Reprocess'; readonly force: boolean }
  | { readonly type: 'Start' }
  | {
      readonly type: 'MarkIndexed';
      readonly attempt: number;
      readonly text: string;
      readonly passages: string;
      readonly chunkCount: number;
      readonly tokenCount: number;
      readonly embeddingModel: string | null;
      readonly steps: readonly StepReport[];
    }
  | { readonly type: 'MarkReady'; readonly attempt: number }
  | {
      readonly type: 'RetryLater';
      readonly attempt: number;
      readonly step: IngestionStep;
      readonly code: string;
      readonly retryAt: string;
    }
  | { readonly type: 'Fail'; readonly attempt: number; readonly step: IngestionStep; readonly code: string }
  | { readonly type: 'Delete' };

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
        readyHash: null,
        attempt: 0,
        failures: 0,
        askedBy: askerOf(event),
        indexed: null,
        superseded: List(),
      };
    }
    if (event.type === 'DocumentDeleted') return { status: 'Deleted' };
    return state.status === 'Absent' || state.status === 'Deleted' ? state : evolveLive(state, event);
  },
  owner: (event) =>
    event.type === 'DocumentAdded' && event.data.spaceId !== null ? { spaceId: event.data.spaceId } : {},
};

/** Actors are `user:<id>`, or `key:<id>` on behalf of one. */
const askerOf = ({ context: { actor, onBehalfOf } }: RecordedEvent<DocumentEvent>): LiveDocument['askedBy'] => {
  const [kind, id = ''] = actor.split(':');
  return kind === 'key' && onBehalfOf !== undefined
    ? { userId: onBehalfOf.slice('user:'.length), keyId: id }
    : { userId: id };
};

type Live = Exclude<DocumentState, { status: 'Absent' | 'Deleted' }>;

const decideLive = (command: Exclude<DocumentCommand, { type: 'Add' }>, state: Live): readonly DocumentEvent[] => {
  switch (command.type) {
    case 'Update':
      return [...renamed(command.name, state), ...retagged(command.tagIds, state), ...replaced(command.content, state)];
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
    case 'MarkIndexed': {
      if (!isCurrent('Processing', command.attempt, state)) return [];
      const { documentId, scope, spaceId, agentId, name, tagIds } = state;
      const { type: _, steps, ...made } = command;
      return [
        {
          type: 'DocumentIndexed',
          data: { ...made, documentId, scope, spaceId, agentId, name, tagIds: [...tagIds], steps: [...steps] },
        },
      ];
    }
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
    case 'Delete':
      return [{ type: 'DocumentDeleted', data: { tagIds: [...state.tagIds], blobs: blobsOf(state) } }];
    default:
      return never(command);
  }
};

const added = ({ type: _type, tagIds, ...document }: CreateDocument & { readonly type: 'Add' }): DocumentEvent => ({
  type: 'DocumentAdded',
  data: { ...document, tagIds: [...new Set(tagIds)] },
});

const renamed = (name: string | undefined, state: Live): readonly DocumentEvent[] =>
  name === undefined || name === state.name ? [] : [{ type: 'DocumentRenamed', data: { name } }];

const retagged = (wanted: readonly string[] | undefined, state: Live): readonly DocumentEvent[] => {
  if (wanted === undefined) return [];
  const tagIds = [...new Set(wanted)];
  const attached = tagIds.filter((tagId) => !state.tagIds.includes(tagId));
  const detached = state.tagIds.filter((tagId) => !tagIds.includes(tagId));
  return attached.length + detached.length === 0
    ? []
    : [{ type: 'DocumentTagsChanged', data: { tagIds, attached, detached } }];
};

/** Equal content changes nothing, unless the document failed with it. */
const replaced = (content: ReplacementContent | undefined, state: Live): readonly DocumentEvent[] =>
  content === undefined || (content.contentHash === state.contentHash && content.mimeType === state.mimeType)
    ? []
    : [{ type: 'DocumentContentReplaced', data: { ...content } }];

/** `force` only skips the comparison of content. A waiting document is not queued twice. */
const reprocessed = (forced: boolean, state: Live): readonly DocumentEvent[] => {
  if (state.status === 'Pending' || state.status === 'Processing' || state.status === 'Indexed') return [];
  const unchanged = state.status === 'Ready' && state.readyHash === state.contentHash;
  return unchanged && !forced ? [] : [{ type: 'DocumentReprocessRequested', data: { forced } }];
};

const isCurrent = (status: Live['status'], attempt: number, state: Live): boolean =>
  state.status === status && state.attempt === attempt;

const blobsOf = ({ file, indexed, superseded }: Held): string[] => [
  file,
  ...(indexed === null ? [] : [indexed.text, indexed.passages]),
  ...superseded,
];

const evolveLive = (
  state: Live,
  event: Exclude<RecordedEvent<DocumentEvent>, { type: 'DocumentAdded' | 'DocumentDeleted' }>,
): DocumentState => {
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
        file,
        failures: 0,
        askedBy: askerOf(event),
        superseded: state.superseded.push(state.file),
      };
    }
    case 'DocumentReprocessRequested':
      return { ...state, status: 'Pending', failures: 0, askedBy: askerOf(event) };
    case 'DocumentProcessingStarted':
      return { ...state, status: 'Processing', attempt: event.data.attempt };
    case 'DocumentIndexed': {
      const { text, passages } = event.data;
      const before = state.indexed === null ? [] : [state.indexed.text, state.indexed.passages];
      return {
        ...state,
        status: 'Indexed',
        indexed: { text, passages, revision: event.context.revision },
        superseded: state.superseded.push(...before),
      };
    }
    case 'DocumentReady':
      return { ...state, status: 'Ready', readyHash: state.contentHash, failures: 0, superseded: List() };
    case 'DocumentAttemptFailed':
      return { ...state, status: 'Pending', failures: state.failures + 1 };
    case 'DocumentProcessingFailed':
      return { ...state, status: 'Failed' };
    default:
      return never(event);
  }
};
