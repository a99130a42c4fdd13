import { idOf, isErased, type RecordedEvent } from '@app/kernel';
import { type DocumentEvent, PASSAGES } from '@app/knowledge';
import type { SearchProjection } from '@app/projecting';

type ScopeDeleted = { readonly type: 'AgentDeleted' | 'SpaceDeleted'; readonly data: Record<string, unknown> };

/**
 * What searches find: the passages of a document from DocumentIndexed, so that it can be found the moment it is Ready, until it
 * is worked on again, or it, its Agent or its Space is deleted. `Retrieval` passes over what is not Ready yet, or any more.
 */
export const passages: SearchProjection = {
  kind: 'search',
  name: PASSAGES,
  version: 4,
  types: [
    'DocumentIndexed',
    'DocumentPassagesSwapped',
    'DocumentRenamed',
    'DocumentTagsChanged',
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
      case 'DocumentIndexed':
      case 'DocumentPassagesSwapped': {
        const { name, scope, agentId, spaceId, tagIds, passages: blob, embeddingModel } = event.data;
        if (isErased(name)) return [{ op: 'removeDocument', documentId }];
        const place = scope === 'agent' ? `a:${agentId}` : scope === 'space' ? `s:${spaceId}` : 'g';
        return [
          {
            op: 'putDocument',
            documentId,
            stream,
            name,
            scope: place,
            tagIds,
            // Of a swap the one before, since what citations pin, the text, stays.
            revision: event.type === 'DocumentIndexed' ? revision : event.data.indexedRevision,
            embeddingModel,
            passages: blob,
          },
        ];
      }
      case 'DocumentRenamed':
        return isErased(event.data.name)
          ? []
          : [{ op: 'patchDocument', documentId, fields: { name: event.data.name } }];
      case 'DocumentTagsChanged':
        return [{ op: 'patchDocument', documentId, fields: { tagIds: event.data.tagIds } }];
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
