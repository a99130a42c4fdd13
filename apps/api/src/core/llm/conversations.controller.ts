import type { Caller } from '@app/access';
import { Access } from '@app/access';
import { DeleteConversation, UpdateConversation } from '@app/conversations';
import {
  Answers,
  BodyInput,
  CommandContext,
  CurrentCaller,
  Documented,
  type Input,
  type JsonText,
  listOf,
  Lists,
  QueryInput,
  Reads,
  Requires,
  tagged,
  written,
} from '@app/http';
import { type CommandMeta, givenFields } from '@app/kernel';
import { GetConversation, ListConversations } from '@projections/conversations';
import { GetMessage, ListMessages } from '@projections/messages';
import { Controller, Delete, Get, Param, Put, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import {
  conversationChange,
  conversationsQuery,
  conversationView,
  messagesQuery,
  messageView,
} from './conversations-schemas';

/** The caller's own conversations with an Agent: nobody else's are known here. */
import { MessageSummaries } from './message-summaries';

@Documented('Conversations')
@Controller('/api/v1/core/llm/:agentId/conversation')
export class ConversationsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly access: Access,
    private readonly lists: Lists,
    private readonly summaries: MessageSummaries,
  ) {}

  @Get()
  @Requires('llm')
  @ApiOperation({
    operationId: 'listConversations',
    summary: 'Lists your conversations with an Agent, newest first, archived ones on request.',
  })
  @Answers(200, listOf(conversationView.schema))
  @Reads('conversations')
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
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const row = await this.own(caller, agentId, conversationId);
    tagged(reply, row.revision);
    return conversationView(row);
  }

  @Put(':conversationId')
  @Requires('llm')
  @ApiOperation({ operationId: 'updateConversation', summary: 'Renames, archives or restores a conversation.' })
  @Answers(200, conversationView.schema)
  async change(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('conversationId') conversationId: string,
    @BodyInput(conversationChange) body: Input<typeof conversationChange>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.own(caller, agentId, conversationId);
    const change = givenFields(body.parse());
    const receipt = await this.commands.execute(
      new UpdateConversation({ userId: caller.userId, agentId }, conversationId, change, meta),
    );
    return written(reply, receipt, {
      views: ['conversations'],
      show: async () => conversationView(await this.own(caller, agentId, conversationId)),
    });
  }

  @Delete(':conversationId')
  @Requires('llm')
  @ApiOperation({
    operationId: 'deleteConversation',
    summary: 'Deletes a conversation permanently, with its messages.',
  })
  @Answers(204)
  async remove(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @Param('conversationId') conversationId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.own(caller, agentId, conversationId);
    const receipt = await this.commands.execute(
      new DeleteConversation({ userId: caller.userId, agentId }, conversationId, meta),
    );
    return written(reply, receipt, { views: ['conversations', 'messages'] });
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
    await this.own(caller, agentId, conversationId);
    const asked = query.parse();
    const list = `messages/${conversationId}`;
    const { rows, next } = await this.queries.execute(
      new ListMessages(conversationId, this.lists.page(list, caller, asked)),
    );
    const shown = await this.summaries.messages(
      agent,
      rows.map(({ row }) => row),
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
    await this.own(caller, agentId, conversationId);
    const row = await this.queries.execute(new GetMessage(conversationId, messageId));
    const [shown = row] = await this.summaries.messages(agent, [row]);
    return messageView(shown);
  }

  /** Rejects `not_found` for conversations of other users or with other Agents. */
  private async own(caller: Caller, agentId: string, conversationId: string) {
    await this.access.agent(caller, agentId, 'use');
    return this.queries.execute(new GetConversation(caller.userId, agentId, conversationId));
  }
}
