import { ATTACHMENTS_OF, type AttachmentsOf } from '@app/conversations';
import { CompleteViews } from '@app/projecting';
import { Module } from '@nestjs/common';
import { attachments } from './attachments.projection';

const lookUp =
  (views: CompleteViews): AttachmentsOf =>
  async (of, position) => {
    const field = 'state' in of ? 'expiresAt' : 'fileId';
    const orderBy = [{ field, order: 'asc' }] as const;
    const keys =
      position === null
        ? await views.shown(attachments.name, { ...of }, orderBy)
        : await views.keys(attachments.name, { ...of }, orderBy, position);
    return keys.map((key) => {
      const [fileId = key, conversationId, messageId] = key.split('/');
      return conversationId === undefined || messageId === undefined
        ? { fileId }
        : { fileId, conversationId, messageId };
    });
  };

/** The view `attachments`. */
@Module({
  providers: [{ provide: ATTACHMENTS_OF, inject: [CompleteViews], useFactory: lookUp }],
  exports: [ATTACHMENTS_OF],
})
export class AttachmentsViewModule {
  static readonly projections = [attachments];
}
