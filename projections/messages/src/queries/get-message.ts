import { reject } from '@app/kernel';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type MessageRow, messages } from '../messages.projection';

/** A message of a conversation. Throws `not_found`. */
export class GetMessage extends Query<MessageRow> {
  constructor(
    readonly conversationId: string,
    readonly messageId: string,
  ) {
    super();
  }
}

@QueryHandler(GetMessage)
export class GetMessageHandler implements IQueryHandler<GetMessage> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({ conversationId, messageId }: GetMessage): Promise<MessageRow> {
    const row = (await this.store.get(messages.name, messageId))?.row as MessageRow | undefined;
    return row?.conversationId === conversationId ? row : reject('not_found', { kind: 'message', id: messageId });
  }
}
