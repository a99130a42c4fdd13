import type { AttachmentEvent, ConversationEvent } from '@app/conversations';
import { idOf, type RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import { z } from 'zod';

/** An attached file that no question named yet, or one question that names a file. Ids alone. */
export const attachmentRow = z.object({
  fileId: z.string(),
  state: z.enum(['unused', 'named']),
  messageId: z.string().nullable(),
  conversationId: z.string().nullable(),
  expiresAt: z.string().nullable(),
});
export type AttachmentRow = z.output<typeof attachmentRow>;

type Event = RecordedEvent<AttachmentEvent | Extract<ConversationEvent, { type: 'UserMessageAdded' }>>;

/** Which messages name which attached files, until those are deleted. */
export const attachments: RowProjection = {
  kind: 'rows',
  name: 'attachments',
  version: 1,
  types: ['AttachmentAdded', 'AttachmentDeleted', 'UserMessageAdded'],
  row: attachmentRow,
  indexes: [
    { name: 'of-file', fields: [{ field: 'fileId' }] },
    { name: 'of-message', fields: [{ field: 'messageId' }, { field: 'fileId' }] },
    { name: 'of-conversation', fields: [{ field: 'conversationId' }, { field: 'fileId' }] },
    { name: 'first-to-expire', fields: [{ field: 'state' }, { field: 'expiresAt' }] },
  ],
  apply: (recorded) => {
    const event = recorded as Event;
    if (event.type === 'AttachmentAdded') {
      const { fileId, expiresAt } = event.data;
      const row: AttachmentRow = { fileId, state: 'unused', messageId: null, conversationId: null, expiresAt };
      return [{ op: 'put', key: fileId, row }];
    }
    if (event.type === 'AttachmentDeleted')
      return [{ op: 'removeWhere', where: { fileId: idOf(event.context.stream) } }];
    const { fileIds = [], messageId, conversationId } = event.data;
    return [...new Set(fileIds)].flatMap((fileId) => {
      const row: AttachmentRow = { fileId, state: 'named', messageId, conversationId, expiresAt: null };
      return [
        { op: 'remove' as const, key: fileId },
        { op: 'put' as const, key: `${fileId}/${conversationId}/${messageId}`, row },
      ];
    });
  },
};
