import type { Caller } from '@app/access';
import { Access } from '@app/access';
import { DeleteConversation, DeleteMessage, Turns, UpdateConversation } from '@app/conversations';
import {
  Answers,
  BodyInput,
  CommandContext,
  CurrentCaller,
  Documented,
  ForwardingInterceptor,
  type Input,
  type JsonText,
  listOf,
  Lists,
  QueryInput,
  Reads,
  Rejects,
  Requires,
  tagged,
  Writes,
} from '@app/http';
import { type CommandMeta, dataKeyName, givenFields, reject, stepOf } from '@app/kernel';
import { ClearMemories } from '@app/memory';
import { GetConversation, ListConversations } from '@projections/conversations';
import { GetMessage, ListMessages } from '@projections/messages';
import { Controller, Delete, Get, Param, Put, Res, UseInterceptors } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import {
  CONVERSATIONS,
  conversationUpdate,
  conversationsQuery,
  conversationView,
  deletionQuery,
  messagesQuery,
  messageView,
} from './conversations-schemas';
import { IncognitoAnswers } from './incognito-answers';
import { MessageSources } from './message-sources';
import { withSaid } from './said-meanwhile';

/** The caller's own conversations with an Agent: nobody else's are known here. */
@Documented('Conversations')
@UseInterceptors(ForwardingInterceptor)
@Controller(CONVERSATIONS)
export class ConversationsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly access: Access,
    private readonly lists: Lists,
    private readonly summaries: MessageSources,
    private readonly incognito: IncognitoAnswers,
    private readonly turns: Turns,
    private readonly writes: Writes,
  ) {}

  @Get()
  @Requires('llm')
  @ApiOperation({
    operationId: 'listConversations',
    summary: 'Lists your conversations with an Agent, newest first; archived ones on request.',
  })
  @Answers(200, listOf(conversationView.schema))
  @Reads('conversations', 'searched-messages')
  async list(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @QueryInput(conversationsQuery) query: Input<typeof conversationsQuery>,
  ): Promise<JsonText> {
    await this.access.agent(caller, agentId, 'use');
    const { limit, cursor, ...filter } = query.parse();
    const asked = { limit, ...givenFields({ cursor, ...filter }) };
    const list = `conversations/${agentId}`;
    const { rows, next } = await this.queries.execute(
      new ListConversations(caller.userId, agentId, filter, this.lists.page(list, caller, asked)),
    );
    return this.lists.answer(
      list,
      caller,
      asked,
      rows.map(({ row }) => conversationView(row)),
      next,
    );
  }

  @Get(':conversationId')
  @Requires('llm')
  @ApiOperation({ operationId: 'getConversation', summary: 'Reads a conversation without its messages.' })
  @Answers(200, conversationView.schema)
  @Reads('conversations')
  async read(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('conversationId') conversationId: string,
  ) {
    if (this.incognito.has(conversationId))
      return this.incognito.conversation(await this.access.agent(caller, agentId, 'use'), caller, conversationId);
    const row = await this.own(caller, agentId, conversationId);
    return tagged(conversationView(row), row.revision);
  }

  @Put(':conversationId')
  @Requires('llm')
  @ApiOperation({
    operationId: 'updateConversation',
    summary: 'Updates the title of a conversation, or archives or restores it.',
  })
  @Answers(200, conversationView.schema)
  @Rejects('conflict')
  async update(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('conversationId') conversationId: string,
    @BodyInput(conversationUpdate) body: Input<typeof conversationUpdate>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.assertOwn(caller, agentId, conversationId);
    const change = givenFields(body.parse());
    const receipt = await this.commands.execute(
      new UpdateConversation({ userId: caller.userId, agentId }, conversationId, change, meta),
    );
    let titleOf: string | null = null;
    return this.writes.answer(reply, receipt, {
      views: ['conversations'],
      show: async () => {
        const row = await this.own(caller, agentId, conversationId);
        ({ titleOf } = row);
        return conversationView(row);
      },
      keptWith: () => dataKeyName(receipt.stream, titleOf ?? undefined),
    });
  }

  @Delete(':conversationId')
  @Requires('llm')
  @ApiOperation({
    operationId: 'deleteConversation',
    summary:
      'Deletes a conversation permanently, with its messages. With `memories=true`, also deletes the memories learned in it; this needs the permission `memory:write`.',
  })
  @Answers(204)
  async delete(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('conversationId') conversationId: string,
    @QueryInput(deletionQuery) query: Input<typeof deletionQuery>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    if (this.incognito.has(conversationId)) {
      await this.access.agent(caller, agentId, 'use');
      query.parse();
      return this.incognito.delete({ userId: caller.userId, agentId }, conversationId, meta);
    }
    await this.assertOwn(caller, agentId, conversationId);
    const { memories } = query.parse();
    if (memories && !caller.permissions.has('memory:write')) reject('forbidden', { permission: 'memory:write' });
    // First, so that who is told that it failed can send it again; and once more for what an answer under way remembered meanwhile,
    // which who reads their memories next does not see any more: if this dies, a policy deletes it.
    if (memories) await this.clearMemories(caller, conversationId, stepOf(meta, 'memories'));
    const receipt = await this.commands.execute(
      new DeleteConversation({ userId: caller.userId, agentId }, conversationId, meta, memories),
    );
    const late = memories ? await this.clearMemories(caller, conversationId, stepOf(meta, 'late-memories')) : undefined;
    const shown = late === undefined ? receipt : { ...receipt, position: late.position };
    return this.writes.answer(reply, shown, {
      views: ['conversations', 'messages', ...(memories ? ['memories'] : [])],
    });
  }

  @Get(':conversationId/messages')
  @Requires('llm')
  @ApiOperation({ operationId: 'listMessages', summary: 'Lists the messages of a conversation, newest first.' })
  @Answers(200, listOf(messageView.schema))
  @Reads('conversations', 'messages', 'documents')
  async messages(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('conversationId') conversationId: string,
    @QueryInput(messagesQuery) query: Input<typeof messagesQuery>,
  ): Promise<JsonText> {
    const agent = await this.access.agent(caller, agentId, 'use');
    if (this.incognito.has(conversationId))
      return this.incognito.messages(agent, caller, conversationId, query.parse());
    await this.own(caller, agentId, conversationId);
    const asked = query.parse();
    const list = `messages/${conversationId}`;
    const { rows, next } = await this.queries.execute(
      new ListMessages(conversationId, this.lists.page(list, caller, asked)),
    );
    const shown = await this.summaries.messages(
      agent,
      await withSaid(
        this.turns,
        conversationId,
        rows.map(({ row }) => row),
      ),
    );
    return this.lists.answer(
      list,
      caller,
      asked,
      shown.map((row) => messageView(row)),
      next,
    );
  }

  @Get(':conversationId/messages/:messageId')
  @Requires('llm')
  @ApiOperation({ operationId: 'getMessage', summary: 'Reads a message.' })
  @Answers(200, messageView.schema)
  @Reads('conversations', 'messages', 'documents')
  async message(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('conversationId') conversationId: string,
    @Param('messageId') messageId: string,
  ): Promise<JsonText> {
    const agent = await this.access.agent(caller, agentId, 'use');
    if (this.incognito.has(conversationId)) return this.incognito.message(agent, caller, conversationId, messageId);
    await this.own(caller, agentId, conversationId);
    const row = await this.queries.execute(new GetMessage(conversationId, messageId));
    const [shown = row] = await this.summaries.messages(agent, await withSaid(this.turns, conversationId, [row]));
    return messageView(shown);
  }

  @Delete(':conversationId/messages/:messageId')
  @Requires('llm')
  @ApiOperation({
    operationId: 'deleteMessage',
    summary:
      'Deletes a message permanently, with the title made from it. Stops an answer in progress; deleting a question deletes its unfinished answer too.',
  })
  @Answers(204)
  @Rejects('conflict')
  async deleteMessage(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('conversationId') conversationId: string,
    @Param('messageId') messageId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.assertOwn(caller, agentId, conversationId);
    const receipt = await this.commands.execute(
      new DeleteMessage({ userId: caller.userId, agentId }, conversationId, messageId, meta),
    );
    return this.writes.answer(reply, receipt, { views: ['conversations', 'messages', 'searched-messages'] });
  }

  private clearMemories({ userId }: Caller, conversationId: string, meta: CommandMeta) {
    return this.commands.execute(new ClearMemories(userId, [{ of: 'conversation', conversationId }], meta));
  }

  /** Rejects `not_found` for conversations of other users or with other Agents, and `conflict` for an incognito one. */
  private async own(caller: Caller, agentId: string, conversationId: string) {
    await this.access.agent(caller, agentId, 'use');
    this.incognito.rejectUnkept({ userId: caller.userId, agentId }, conversationId);
    return this.queries.execute(new GetConversation(caller.userId, agentId, conversationId));
  }

  /** As `own`, for whoever changes it: one that has just begun to stream is in the log before the view shows it. */
  private async assertOwn(caller: Caller, agentId: string, conversationId: string): Promise<void> {
    const participants = { userId: caller.userId, agentId };
    await this.access.agent(caller, agentId, 'use');
    this.incognito.rejectUnkept(participants, conversationId);
    await this.turns.checkConversation(participants, conversationId);
  }
}
