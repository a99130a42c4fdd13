import { idOf, isErased, type RecordedEvent, type Sensitive } from '@app/kernel';
import { type DocumentEvent, PASSAGES, type Searched } from '@app/knowledge';
import type { SearchIntent, SearchProjection } from '@app/projecting';

type ScopeDeleted = { readonly type: 'AgentDeleted' | 'SpaceDeleted'; readonly data: Record<string, unknown> };

/**
 * The passages that searches find: those of a document from DocumentIndexed on, so that it is found the moment it is
 * Ready, until it is processed again, disabled, or deleted with its Agent or Space. `Retrieval` skips documents that
 * are not Ready.
 */
export const passages: SearchProjection = {
  kind: 'search',
  name: PASSAGES,
  version: 9,
  types: [
    'DocumentIndexed',
    'DocumentPassagesSwapped',
    'DocumentRenamed',
    'DocumentTagsChanged',
    'DocumentEnabled',
    'DocumentDisabled',
    'DocumentChunkEdited',
    'DocumentRetitled',
    'DocumentProcessingStarted',
    'DocumentProcessingFailed',
    'DocumentDeleted',
    'AgentDeleted',
    'SpaceDeleted',
  ],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<DocumentEvent> | RecordedEvent<ScopeDeleted>;
    const { stream, revision } = event.context;
    const documentId = idOf(stream);
    switch (event.type) {
      case 'DocumentIndexed': {
        const { enabled = true, ...indexed } = event.data;
        return enabled ? [put(stream, { ...indexed, indexedRevision: revision })] : [];
      }
      case 'DocumentPassagesSwapped': {
        // `indexedRevision` is the one before, since what citations pin, the text, stays.
        const { enabled = true, ...swapped } = event.data;
        return enabled ? [put(stream, swapped)] : [];
      }
      case 'DocumentEnabled':
        return event.data.searched === null ? [] : [put(stream, event.data.searched)];
      case 'DocumentChunkEdited':
      case 'DocumentRetitled':
        return event.data.documentEnabled ? [put(stream, event.data.searched)] : [];
      case 'DocumentRenamed':
        return renamed(documentId, event.data.name);
      case 'DocumentTagsChanged':
        return [{ op: 'patchDocument', documentId, fields: { tagIds: event.data.tagIds } }];
      case 'DocumentDisabled':
      case 'DocumentProcessingStarted':
      case 'DocumentProcessingFailed':
      case 'DocumentDeleted':
        return [{ op: 'removeDocument', documentId }];
      case 'AgentDeleted':
        return [{ op: 'removeScope', scope: `a:${documentId}` }];
      case 'SpaceDeleted':
        return [{ op: 'removeScope', scope: `s:${documentId}` }];
      default:
        return [];
    }
  },
};

const renamed = (documentId: string, name: Sensitive<string>): readonly SearchIntent[] =>
  isErased(name) ? [] : [{ op: 'patchDocument', documentId, fields: { name } }];

const put = (
  stream: string,
  { documentId, name, scope, agentId, spaceId, tagIds, passages: blob, embeddingModel, indexedRevision }: Searched,
): SearchIntent => {
  if (isErased(name)) return { op: 'removeDocument', documentId };
  const place = scope === 'agent' ? `a:${agentId}` : scope === 'space' ? `s:${spaceId}` : 'g';
  const document = { documentId, stream, name, scope: place, tagIds, revision: indexedRevision };
  return { op: 'putDocument', ...document, embeddingModel, passages: blob };
};
