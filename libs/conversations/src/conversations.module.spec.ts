import { UnfinishedWork } from '@app/projecting';
import { openContext } from '../../../test/fixtures/context';
import { spendingLookups } from '../../../test/fixtures/spending-lookups';
import { RETRIEVER } from './answering/retriever';
import { AGENT_TOOLS } from './answering/tools';
import { Turns } from './answering/turns';
import { DeleteConversation } from './conversation/commands/delete-conversation';
import { ConversationsModule } from './conversations.module';
import { ATTACHMENTS_OF, CONVERSATIONS_OF } from './lookups';

let context: Awaited<ReturnType<typeof openContext>>;
beforeAll(async () => {
  context = await openContext(ConversationsModule, [
    ...spendingLookups,
    { provide: CONVERSATIONS_OF, useValue: async () => [] },
    { provide: ATTACHMENTS_OF, useValue: async () => [] },
    { provide: RETRIEVER, useValue: { retrieve: async () => [] } },
    { provide: AGENT_TOOLS, useValue: { of: async () => [], mayUse: async () => true } },
  ]);
});
afterAll(() => context.close());

describe('the module of conversations', () => {
  it('handles commands', async () => {
    const { commands, ids, meta } = context;
    const participants = { userId: ids.next(), agentId: ids.next() };
    await expect(commands.execute(new DeleteConversation(participants, ids.next(), meta()))).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('has turns that were abandoned closed', async () => {
    const close = jest.spyOn(context.module.get(Turns, { strict: false }), 'closeAbandonedTurns');
    await context.module.get(UnfinishedWork).finishAll();
    expect(close).toHaveBeenCalledTimes(1);
  });

  it('runs its policies', async () =>
    expect(await context.policies()).toEqual([
      'delete-conversations-of-the-deleted',
      'delete-unnamed-attachments',
      'title-conversations',
    ]));
});
