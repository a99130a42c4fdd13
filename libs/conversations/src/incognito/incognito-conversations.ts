import { type Clock, deriveId, reject, type Uuid } from '@app/kernel';
import type { MeteredCall } from '@app/spending';
import type { Participants } from '../conversation/conversation.commands';
import { type TextPart, textOf } from '../conversation/message-parts';
import type { Answerer } from '../answering/answerer';
import { type AnsweringAgent, Stopped } from '../answering/answering';
import { type AnsweredTurn, Turn } from '../answering/turn';
import { IncognitoConversation } from './incognito-conversation';
import type { IncognitoIds } from './incognito-ids';

/** What one user may have here at once. */
const MOST_CONVERSATIONS = 20;
const MOST_BYTES = 16 * 1024 ** 2;
/** What all together may have here. */
const MOST_BYTES_OF_ALL = 256 * 1024 ** 2;
/** A conversation ends when nobody has used it for so long, and when it is so old. */
const IDLE_MS = 30 * 60_000;
const LONGEST_MS = 12 * 60 * 60_000;

export interface IncognitoQuestion {
  /** Absent: a new conversation. */
  readonly conversationId?: string;
  readonly userId: string;
  /** The API key, if one was used. */
  readonly keyId?: string;
  readonly agent: AnsweringAgent;
  /** None where a question is answered once more. */
  readonly parts: readonly TextPart[];
  readonly parentId?: string | null;
  /** The question that is answered once more, or one of its answers, instead of a new one. */
  readonly regenerates?: string;
}

/** The metadata of a command to an incognito conversation. */
export interface IncognitoCommand {
  /** The same for a repeat. */
  readonly commandId: Uuid;
  /** The revision that the conversation must have. */
  readonly ifRevision?: number;
}

export interface IncognitoParts {
  /** Of what it writes, invocations have no content by their type (`CallToMeter`). */
  readonly answerer: Pick<Answerer, 'reserve' | 'answer'>;
  readonly ids: IncognitoIds;
  readonly clock: Clock;
}

/**
 * Incognito conversations: they exist only in the memory of this process. Code in this folder cannot use a log, a store
 * or a codec; lint rejects it. They end when they are deleted, after 30 idle minutes, after 12 hours, or with the
 * process.
 */
export class IncognitoConversations {
  private readonly all = new Map<string, IncognitoConversation>();
  /** Answers that are being let through, for repeats of their command. */
  private readonly starting = new Map<string, Promise<Turn<AnsweredTurn>>>();

  constructor(private readonly parts: IncognitoParts) {}

  /**
   * Begins to answer a question. A repeat of the command joins its turn. Rejects `not_found`, `precondition_failed`,
   * `turn_in_progress`, `usage_limit_exceeded`, and `too_large` if the user has too much here; nothing is kept then.
   */
  async ask(question: IncognitoQuestion, { commandId, ifRevision }: IncognitoCommand): Promise<Turn<AnsweredTurn>> {
    this.endOld();
    const answerId = deriveId(commandId, 'answer');
    const begins = question.conversationId === undefined && this.begunBy(question.userId, commandId) === undefined;
    if (begins) assertRevision(ifRevision, -1);
    const conversation = this.conversationOf(question, commandId);
    const known = conversation.turns.get(answerId)?.turn ?? this.starting.get(answerId);
    if (known !== undefined) {
      const asked = conversation.message(conversation.message(answerId)?.parentId ?? '');
      const isSame =
        question.regenerates === undefined
          ? textOf(asked?.parts ?? []) === textOf(question.parts)
          : conversation.question(question.regenerates).id === asked?.id;
      return isSame ? known : reject('idempotency_key_reused');
    }
    if (!begins) assertRevision(ifRevision, conversation.revision);
    const starting = this.start(conversation, question, commandId, answerId);
    this.starting.set(answerId, starting);
    try {
      return await starting;
    } finally {
      this.starting.delete(answerId);
    }
  }

  /** A user's conversation with an Agent. Rejects `not_found`. */
  own({ userId, agentId }: Participants, conversationId: string): IncognitoConversation {
    this.endOld();
    const found = this.all.get(conversationId);
    if (found === undefined || found.participants.userId !== userId || found.participants.agentId !== agentId)
      return reject('not_found', { kind: 'conversation', id: conversationId });
    found.lastUsedAt = this.parts.clock.now();
    return found;
  }

  /**
   * The turn with this answer, by default the running one that began last, from its beginning; undefined if there is
   * none. Rejects `not_found`.
   */
  resume(
    participants: Participants,
    conversationId: string,
    answerId: string | undefined,
  ): Turn<AnsweredTurn> | undefined {
    const { turns, open } = this.own(participants, conversationId);
    if (answerId !== undefined)
      return turns.get(answerId)?.turn ?? reject('not_found', { kind: 'message', id: answerId });
    return open.at(-1)?.turn;
  }

  /** Stops the answer with this id, by default the one that was begun last. What it said stays. False if it does not run. Rejects `not_found`. */
  stop(participants: Participants, conversationId: string, answerId?: string): boolean {
    const { open } = this.own(participants, conversationId);
    const running = answerId === undefined ? open.at(-1) : open.find(({ turn }) => turn.answerId === answerId);
    running?.stop.abort(new Stopped());
    return running !== undefined;
  }

  /** Ends a conversation, and what is being answered in it. Rejects `not_found` and `precondition_failed`. */
  delete(
    participants: Participants,
    conversationId: string,
    { ifRevision }: Pick<IncognitoCommand, 'ifRevision'>,
  ): void {
    const conversation = this.own(participants, conversationId);
    assertRevision(ifRevision, conversation.revision);
    this.end(conversation);
  }

  /** Ends conversations that were idle for half an hour, or that are half a day old. */
  endOld(): void {
    const now = this.parts.clock.now().getTime();
    for (const conversation of this.all.values()) {
      const isIdle = conversation.open.length === 0 && now - conversation.lastUsedAt.getTime() >= IDLE_MS;
      if (isIdle || now - conversation.createdAt.getTime() >= LONGEST_MS) this.end(conversation);
    }
  }

  /** Ends conversations whose user or Agent is gone, with their running answers. */
  async endGone(isGone: (participants: Participants) => Promise<boolean>): Promise<void> {
    for (const conversation of this.all.values()) if (await isGone(conversation.participants)) this.end(conversation);
  }

  /** Waits for running answers, and stops those that take longer. */
  async close(graceMs: number): Promise<void> {
    const open = [...this.all.values()].flatMap((conversation) => conversation.open);
    const timer = setTimeout(() => open.forEach(({ stop }) => stop.abort(new Stopped())), graceMs);
    await Promise.allSettled(open.map(({ turn }) => turn.finished));
    clearTimeout(timer);
  }

  private conversationOf({ conversationId, userId, agent }: IncognitoQuestion, commandId: Uuid): IncognitoConversation {
    const participants = { userId, agentId: agent.agentId };
    if (conversationId !== undefined) return this.own(participants, conversationId);
    return this.begunBy(userId, commandId) ?? this.begin(participants, commandId);
  }

  private begunBy(userId: string, commandId: Uuid): IncognitoConversation | undefined {
    return this.of(userId).find(({ begunBy }) => begunBy === commandId);
  }

  private begin(participants: Participants, commandId: Uuid): IncognitoConversation {
    const now = this.parts.clock.now();
    const conversation = new IncognitoConversation(this.freeId(now), participants, commandId, now);
    this.evict(participants.userId, (own) => own.length < MOST_CONVERSATIONS);
    this.all.set(conversation.id, conversation);
    return conversation;
  }

  private async start(
    conversation: IncognitoConversation,
    question: IncognitoQuestion,
    commandId: Uuid,
    answerId: string,
  ): Promise<Turn<AnsweredTurn>> {
    const { agent, userId, keyId, regenerates } = question;
    const requester = { userId, ...(keyId === undefined ? {} : { keyId }) };
    const again = regenerates === undefined ? undefined : conversation.question(regenerates);
    const { parts, parentId } = again ?? question;
    const messageId = again?.id ?? deriveId(commandId, 'message');
    let isAsked = false;
    let metered: MeteredCall | undefined;
    try {
      const history = conversation.branch(parentId);
      const now = this.parts.clock.now();
      if (again === undefined) conversation.ask({ messageId, answerId, parts }, parentId, now);
      else conversation.askAgain(messageId, answerId, now);
      isAsked = true;
      this.evict(userId, (own) => bytesIn(own) <= MOST_BYTES, conversation);
      if (bytesIn([...this.all.values()]) > MOST_BYTES_OF_ALL) reject('unavailable', { reason: 'incognito_full' });
      metered = await this.parts.answerer.reserve(agent, requester, textOf(parts), history);
      if (!this.all.has(conversation.id)) reject('not_found', { kind: 'conversation', id: conversation.id });
    } catch (error) {
      metered?.cancel();
      if (isAsked) conversation.retract(answerId, again === undefined ? messageId : undefined);
      if (conversation.messageCount === 0) this.all.delete(conversation.id);
      throw error;
    }
    return this.answer(conversation, { agent, requester, metered }, { messageId, answerId });
  }

  private answer(
    conversation: IncognitoConversation,
    {
      agent,
      ...options
    }: {
      readonly agent: AnsweringAgent;
      readonly requester: { readonly userId: string; readonly keyId?: string };
      readonly metered: MeteredCall | undefined;
    },
    { messageId, answerId }: { readonly messageId: string; readonly answerId: string },
  ): Turn<AnsweredTurn> {
    const { answerer, clock } = this.parts;
    const stop = new AbortController();
    const turn = new Turn<AnsweredTurn>(conversation.id, answerId, async (tell, isHeard) => {
      const messages = conversation.branch(messageId);
      const answer = await answerer.answer({
        agent,
        messages,
        ...options,
        signal: stop.signal,
        mayWait: false,
        save: async () => undefined,
        say: tell,
        isHeard,
      });
      if (answer.status === 'waiting') throw new Error('an incognito answer waits');
      if (!this.all.has(conversation.id)) return reject('not_found', { kind: 'conversation', id: conversation.id });
      const now = clock.now();
      conversation.answered(answerId, answer, now);
      return {
        conversationId: conversation.id,
        parentId: messageId,
        answer: { answerId, ...answer },
      };
    });
    conversation.turns.set(answerId, { turn, stop });
    return turn;
  }

  /**
   * Ends the user's least recently used conversations, until there is room. Rejects `too_large` if that does not help.
   */
  private evict(
    userId: string,
    fits: (own: readonly IncognitoConversation[]) => boolean,
    kept?: IncognitoConversation,
  ): void {
    while (!fits(this.of(userId))) {
      const [oldest] = this.of(userId)
        .filter((each) => each !== kept && each.open.length === 0)
        .toSorted((a, b) => a.lastUsedAt.getTime() - b.lastUsedAt.getTime());
      if (oldest === undefined) return reject('too_large', { reason: 'incognito' });
      this.end(oldest);
    }
  }

  private end(conversation: IncognitoConversation): void {
    this.all.delete(conversation.id);
    for (const { stop } of conversation.open) stop.abort(new Stopped());
  }

  private of(userId: string): readonly IncognitoConversation[] {
    return [...this.all.values()].filter(({ participants }) => participants.userId === userId);
  }

  private freeId(now: Date): string {
    for (;;) {
      const id = this.parts.ids.next(now);
      if (!this.all.has(id)) return id;
    }
  }
}

/** Rejects `precondition_failed` where a revision is given and another one is there; -1: none. */
const assertRevision = (expected: number | undefined, actual: number): void => {
  if (expected !== undefined && expected !== actual) reject('precondition_failed', { expected, actual });
};

const bytesIn = (conversations: readonly IncognitoConversation[]): number =>
  conversations.reduce((sum, { bytes }) => sum + bytes, 0);
