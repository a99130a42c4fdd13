import { type Clock, CLOCK, eachOfAll, idOf, reactionTo, type RecordedEvent, stepOf } from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { Attachments } from '../attachment/attachments';
import type { ConversationEvent } from '../conversation/conversation.events';
import { ATTACHMENTS_OF, type AttachmentsOf } from '../lookups';

type Deleted = RecordedEvent & Extract<ConversationEvent, { type: 'MessageDeleted' | 'ConversationDeleted' }>;

/** Deletes attached files with the last message that names them. */
@PolicyHandler()
export class DeleteUnnamedAttachments implements Policy {
  readonly name = 'delete-unnamed-attachments';
  readonly types = ['MessageDeleted', 'ConversationDeleted'];

  constructor(
    private readonly attachments: Attachments,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(ATTACHMENTS_OF) private readonly attachmentsOf: AttachmentsOf,
  ) {}

  async react(recorded: RecordedEvent): Promise<void> {
    const { type, data, context } = recorded as Deleted;
    const of = type === 'MessageDeleted' ? { messageId: data.messageId } : { conversationId: idOf(context.stream) };
    const fileIds = new Set((await this.attachmentsOf(of, context.position)).map((each) => each.fileId));
    await eachOfAll(fileIds, (fileId) =>
      this.attachments.deleteUnlessNamed(
        fileId,
        context.position,
        stepOf(reactionTo(recorded, this.name, this.clock.now()), fileId),
      ),
    );
  }
}
