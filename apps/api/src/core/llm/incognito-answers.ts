import type { AgentAccess, Caller } from '@app/access';
import {
  type AnsweredTurn,
  IncognitoConversations,
  IncognitoIds,
  type IncognitoMessage,
  type Participants,
  type Question,
  type TextPart,
  type Turn,
  Turns,
} from '@app/conversations';
import { type JsonText, Lists, pageOf, type Tagged, tagged } from '@app/http';
import { type CommandMeta, reject } from '@app/kernel';
import type { MessageRow } from '@projections/messages';
import { Injectable } from '@nestjs/common';
import { conversationView, messageView } from './conversations-schemas';
import { MessageSources } from './message-sources';
import { shownAnswer } from './turn-answers';

/** The title of every incognito conversation: none is made of what is said in it. */
const TITLE = 'Incognito conversation';

type Page = Readonly<{ limit: number; cursor?: string | undefined }>;

/** Incognito conversations and their messages as they are shown, from the memory of this process. */
@Injectable()
export class IncognitoAnswers {
  constructor(
    private readonly conversations: IncognitoConversations,
    private readonly ids: IncognitoIds,
    private readonly lists: Lists,
    private readonly summaries: MessageSources,
    private readonly turns: Turns,
  ) {}

  /** Whether an id is that of an incognito conversation, here or elsewhere, of now or of before. */
  has(conversationId: string | undefined): conversationId is string {
    return conversationId !== undefined && this.ids.tagIn(conversationId) !== undefined;
  }

  /** For what a conversation must be kept for. Rejects `conflict` for an incognito one, and `not_found` where that is not the requester's. */
  rejectUnkept(participants: Participants, conversationId: string): void {
    if (!this.has(conversationId)) return;
    this.conversations.own(participants, conversationId);
    reject('conflict', { reason: 'incognito' });
  }

  /** Whether a question is incognito: by its kind, or by the conversation that it goes on. Rejects `conflict` where the two differ, and `not_found` where the conversation is not the requester's. */
  async isAsked(
    { conversationId, kind }: { readonly conversationId?: string | undefined; readonly kind?: string | undefined },
    participants: Participants,
  ): Promise<boolean> {
    if (conversationId === undefined) return kind === 'incognito';
    const isOne = this.has(conversationId);
    if (kind === undefined || (kind === 'incognito') === isOne) return isOne;
    // Nobody learns of which kind the conversations of others are.
    if (isOne) this.conversations.own(participants, conversationId);
    else await this.turns.checkConversation(participants, conversationId);
    return reject('conflict', { reason: 'other_kind', path: 'kind' });
  }

  ask(
    question: Omit<Question, 'kind' | 'channel' | 'parts'> & { readonly parts: readonly TextPart[] },
    meta: CommandMeta,
  ): Promise<Turn<AnsweredTurn>> {
    return this.conversations.ask(question, meta);
  }

  /** The question that a message is, or is an answer to. Rejects `not_found`. */
  question(participants: Participants, conversationId: string, messageId: string): string {
    return this.conversations.own(participants, conversationId).question(messageId).id;
  }

  resume(
    participants: Participants,
    conversationId: string,
    answerId: string | undefined,
  ): Turn<AnsweredTurn> | undefined {
    return this.conversations.resume(participants, conversationId, answerId);
  }

  stop(participants: Participants, conversationId: string, answerId: string | undefined): boolean {
    return this.conversations.stop(participants, conversationId, answerId);
  }

  delete(participants: Participants, conversationId: string, meta: CommandMeta): void {
    this.conversations.delete(participants, conversationId, meta);
  }

  conversation({ spaceId, agentId }: AgentAccess, { userId }: Caller, conversationId: string): Tagged {
    const { id, createdAt, updatedAt, messageCount, revision } = this.conversations.own(
      { userId, agentId },
      conversationId,
    );
    const json = conversationView({
      id,
      agentId,
      spaceId,
      userId,
      title: TITLE,
      kind: 'incognito',
      archived: false,
      messageCount,
      createdAt: createdAt.toISOString(),
      updatedAt: updatedAt.toISOString(),
      revision,
    });
    return tagged(json, revision);
  }

  /** The messages, newest first, a page at a time. */
  async messages(agent: AgentAccess, caller: Caller, conversationId: string, asked: Page): Promise<JsonText> {
    const all = this.conversations.own({ userId: caller.userId, agentId: agent.agentId }, conversationId).list();
    const list = `messages/${conversationId}`;
    const { limit, after } = this.lists.page(list, caller, asked);
    const behind = after === undefined ? all : all.filter(({ sequence }) => sequence < Number(after.values[0]));
    const { items, next } = pageOf(behind, limit, ({ sequence, id }) => ({ values: [sequence], key: id }));
    return this.lists.unkept(list, caller, asked, await this.shown(agent, items), next);
  }

  /** A finished answer, with its conversation. */
  async answered(turn: Turn<AnsweredTurn>, agent: AgentAccess, caller: Caller): Promise<Tagged> {
    const { conversationId, answer } = await turn.finished;
    if (answer.status === 'failed')
      return reject(answer.errorCode ?? 'internal', { conversationId, messageId: answer.answerId });
    const { userId } = caller;
    const { revision } = this.conversations.own({ userId, agentId: agent.agentId }, conversationId);
    const message = await this.message(agent, caller, conversationId, answer.answerId);
    return tagged(shownAnswer(conversationId, message, answer.usage), revision);
  }

  async message(agent: AgentAccess, caller: Caller, conversationId: string, messageId: string): Promise<JsonText> {
    const { agentId } = agent;
    const message = this.conversations
      .own({ userId: caller.userId, agentId }, conversationId)
      .list()
      .find(({ id }) => id === messageId);
    if (message === undefined) return reject('not_found', { kind: 'message', id: messageId });
    const [shown] = await this.shown(agent, [message]);
    return shown as JsonText;
  }

  private async shown(agent: AgentAccess, messages: readonly IncognitoMessage[]): Promise<readonly JsonText[]> {
    return (await this.summaries.messages(agent, messages.map(rowOf))).map((row) => messageView(row));
  }
}

/** A message as the view would have it; nobody asks where an incognito one came from, and nobody says what they think of it. */
const rowOf = ({ parts, degraded, ...message }: IncognitoMessage): MessageRow => ({
  ...message,
  parts: [...parts],
  ...(degraded === undefined ? {} : { degraded: [...degraded] }),
  channel: null,
  feedback: null,
});
