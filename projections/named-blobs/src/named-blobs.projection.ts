import { idOf, never, type RecordedEvent } from '@app/kernel';
import type { DocumentEvent } from '@app/knowledge';
import type { RowProjection } from '@app/projecting';
import type { Operation } from '@app/read-store';
import { z } from 'zod';

/** A blob that an event names, by its name. */
export const namedBlobRow = z.object({ documentId: z.string() });

type Naming = Extract<DocumentEvent, { readonly type: 'DocumentAdded' | 'DocumentContentReplaced' | 'DocumentIndexed' | 'DocumentReady' | 'DocumentDeleted' }>;

/** The blobs that events name and no later one gave up: any other is a leftover, which the sweep removes. */
export const namedBlobs: RowProjection = {
  kind: 'rows',
  name: 'named-blobs',
  version: 1,
  types: ['DocumentAdded', 'DocumentContentReplaced', 'DocumentIndexed', 'DocumentReady', 'DocumentDeleted'],
  row: namedBlobRow,
  indexes: [],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<Naming>;
    const documentId = idOf(event.context.stream);
    const named = (...keys: readonly string[]): readonly Operation[] => keys.map((key) => ({ op: 'put', key, row: { documentId } }));
    const givenUp = (keys: readonly string[]): readonly Operation[] => keys.map((key) => ({ op: 'remove', key }));
    switch (event.type) {
      case 'DocumentAdded':
      case 'DocumentContentReplaced':
        return named(event.data.file);
      case 'DocumentIndexed':
        return named(event.data.text, event.data.passages);
      case 'DocumentReady':
        return givenUp(event.data.superseded);
      case 'DocumentDeleted':
        return givenUp(event.data.blobs);
      default:
        return never(event);
    }
  },
};
