import { EVENT_LOG } from '@app/event-log';
import { Decisions, type Position } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { conversationDecider } from '../conversation/conversation.decider';
import { ATTACHMENTS_OF, type AttachmentsOf } from '../lookups';

/** Tells whether messages name attached files. The view says which ones did, their conversations whether they are there. */
@Injectable()
export class FileReferences {
  constructor(
    private readonly decisions: Decisions,
    @Inject(ATTACHMENTS_OF) private readonly attachmentsOf: AttachmentsOf,
    @Inject(EVENT_LOG) private readonly log: { head(): Promise<Position | null> },
  ) {}

  /** Files that no message ever named, the first to expire first. */
  async unused(): Promise<readonly string[]> {
    const head = await this.log.head();
    if (head === null) return [];
    return (await this.attachmentsOf({ state: 'unused' }, head)).map(({ fileId }) => fileId);
  }

  /** True where a message that is there names a file. Throws `Unavailable` where the view is too late to tell that none does. */
  async isNamed(fileId: string): Promise<boolean> {
    // A view that is late shows most of them.
    if (await this.isThere(await this.attachmentsOf({ fileId }, null))) return true;
    const head = await this.log.head();
    return head !== null && this.isNamedAt(fileId, head);
  }

  /** As `isNamed`, by all messages up to the event at `position` and those that came after it. */
  async isNamedSince(fileId: string, position: Position): Promise<boolean> {
    return this.isNamedAt(fileId, (await this.log.head()) ?? position);
  }

  private async isNamedAt(fileId: string, position: Position): Promise<boolean> {
    return this.isThere(await this.attachmentsOf({ fileId }, position));
  }

  private async isThere(names: Awaited<ReturnType<AttachmentsOf>>): Promise<boolean> {
    for (const { messageId, conversationId } of names) {
      if (messageId === undefined || conversationId === undefined) continue;
      const { state } = await this.decisions.load(conversationDecider, conversationId);
      if (state.status === 'Live' && state.parents.has(messageId)) return true;
    }
    return false;
  }
}
