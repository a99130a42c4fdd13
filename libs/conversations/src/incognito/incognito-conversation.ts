import { reject } from '@app/kernel';
import { type ChatMessage, userText } from '@app/models';
import type { Answer, Participants } from '../conversation/conversation.commands';
import { type MessagePart, textOf } from '../conversation/message-parts';
import type { AnsweredTurn, Turn } from '../answering/turn';

/** What of a conversation a model is shown, at most: the newest messages. */
const MAX_MESSAGES = 50;
const MAX_CHARACTERS = 100_000;

/** A message as it is shown. */
export interface IncognitoMessage {
  readonly id: string;
  readonly conversationId: string;
  readonly parentId: string | null;
  readonly role: 'user' | 'assistant';
  readonly parts: readonly MessagePart[];
  readonly status: Answer['status'] | 'streaming';
  readonly finishReason: Answer['finishReason'] | null;
  readonly usage: Answer['usage'];
  readonly model: string | null;
  readonly degraded?: NonNullable<Answer['degraded']>;
  /** Orders the messages of a conversation. */
  readonly sequence: number;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
}

/** An answer under way, or one that has ended. */
export interface IncognitoTurn {
  readonly turn: Turn<AnsweredTurn>;
  readonly stop: AbortController;
}

/** One incognito conversation: nothing of it is anywhere but in this object. */
export class IncognitoConversation {
  /** By the ids of the answers. */
  readonly turns = new Map<string, IncognitoTurn>();
  lastUsedAt: Date;
  /** When something was last asked or answered. */
  updatedAt: Date;
  revision = 0;
  /** UTF-8 of its messages. */
  bytes = 0;
  private readonly messages = new Map<string, IncognitoMessage>();
  private last: string | null = null;

  constructor(
    readonly id: string,
    readonly participants: Participants,
    /** The command that began it: a repeat goes on with it. */
    readonly begunBy: string,
    readonly createdAt: Date,
  ) {
    this.lastUsedAt = createdAt;
    this.updatedAt = createdAt;
  }

  /** The messages, newest first; an answer under way with what was said until now. */
  list(): readonly IncognitoMessage[] {
    return [...this.messages.values()]
      .toSorted((a, b) => b.sequence - a.sequence)
      .map((message) =>
        message.status === 'streaming'
          ? { ...message, parts: this.turns.get(message.id)?.turn.parts ?? message.parts }
          : message,
      );
  }

  /**
   * Adds a question and a place for its answer. Rejects `not_found` for an unknown parent, and `turn_in_progress` after
   * a question without its answer.
   */
  ask(
    question: { readonly messageId: string; readonly answerId: string; readonly parts: readonly MessagePart[] },
    parentId: string | null | undefined,
    now: Date,
  ): void {
    const parent = parentId === undefined ? this.last : parentId;
    if (typeof parentId === 'string' && !this.messages.has(parentId))
      reject('not_found', { kind: 'message', id: parentId, path: 'parentId' });
    this.rejectOpen(parent);
    const { messageId, answerId, parts } = question;
    this.put({ ...NEW, id: messageId, parentId: parent, role: 'user', parts, status: 'complete' }, now);
    this.bytes += bytesOf(parts);
    this.begin(answerId, messageId, now);
  }

  /**
   * Adds a place for one more answer to a question. Rejects `turn_in_progress` if it, or a question before it, still
   * waits for an answer.
   */
  askAgain(messageId: string, answerId: string, now: Date): void {
    this.rejectOpen(messageId);
    this.begin(answerId, messageId, now);
  }

  /** The question that a message is, or is an answer to. Rejects `not_found`. */
  question(id: string): IncognitoMessage {
    const message = this.messages.get(id);
    const question = message?.role === 'assistant' ? this.messages.get(message.parentId ?? '') : message;
    return question ?? reject('not_found', { kind: 'message', id });
  }

  /** Takes back an answer that was not let through, and its question where that was new. */
  retract(answerId: string, messageId?: string): void {
    this.messages.delete(answerId);
    if (messageId !== undefined) {
      this.bytes -= bytesOf(this.messages.get(messageId)?.parts ?? []);
      this.messages.delete(messageId);
    }
    // Messages are in the order in which they began, each question before its answer.
    if (this.last === answerId) this.last = [...this.messages.keys()].at(-1) ?? null;
  }

  answered(answerId: string, answer: Omit<Answer, 'type' | 'answerId'>, now: Date): void {
    const open = this.messages.get(answerId);
    if (open === undefined) return;
    const { parts, status, finishReason, usage, model, degraded } = answer;
    this.messages.set(answerId, { ...open, parts, status, finishReason, usage, model, ...(degraded && { degraded }) });
    this.bytes += bytesOf(parts);
    this.revision += 1;
    this.updatedAt = this.lastUsedAt = now;
  }

  message(id: string): IncognitoMessage | undefined {
    return this.messages.get(id);
  }

  get messageCount(): number {
    return this.messages.size;
  }

  /** The branch that ends with a message, by default the last one, oldest first, as a model sees it: without failed answers. */
  branch(last: string | null = this.last): readonly ChatMessage[] {
    const newestFirst: ChatMessage[] = [];
    let room = MAX_CHARACTERS;
    for (let id = last; id !== null && newestFirst.length < MAX_MESSAGES;) {
      const message = this.messages.get(id);
      if (message === undefined) break;
      id = message.parentId;
      const text = message.status === 'failed' ? '' : textOf(message.parts);
      room -= text.length;
      if (room < 0 && newestFirst.length > 0) break;
      if (text === '') continue;
      newestFirst.push(
        message.role === 'user' ? userText(text) : { role: 'assistant', content: [{ type: 'text', text }] },
      );
    }
    return newestFirst.toReversed();
  }

  /** The answers under way, the oldest first. */
  get open(): readonly IncognitoTurn[] {
    return [...this.turns].flatMap(([id, turn]) => (this.messages.get(id)?.status === 'streaming' ? [turn] : []));
  }

  private rejectOpen(from: string | null): void {
    for (let id = from; id !== null; id = this.messages.get(id)?.parentId ?? null)
      if (this.isOpen(id)) reject('turn_in_progress');
  }

  private begin(answerId: string, messageId: string, now: Date): void {
    this.put({ ...NEW, id: answerId, parentId: messageId, role: 'assistant', parts: [], status: 'streaming' }, now);
    this.last = answerId;
  }

  /** Whether a question waits for an answer. */
  private isOpen(id: string): boolean {
    return [...this.messages.values()].some(({ parentId, status }) => parentId === id && status === 'streaming');
  }

  private put(message: Omit<IncognitoMessage, 'conversationId' | 'sequence' | 'createdAt'>, now: Date): void {
    this.revision += 1;
    this.updatedAt = now;
    const placed = { conversationId: this.id, sequence: this.revision, createdAt: now.toISOString() };
    this.messages.set(message.id, { ...message, ...placed });
  }
}

const NEW = { finishReason: null, usage: null, model: null };

const bytesOf = (parts: readonly MessagePart[]): number => Buffer.byteLength(JSON.stringify(parts));
