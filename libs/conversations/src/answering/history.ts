import { EVENT_LOG } from '@app/event-log';
import {
  Decisions,
  EventCodec,
  isErased,
  type RecordedEvent,
  REMEMBERED,
  SharedLruCache,
  type StoredEvent,
  type StreamReader,
  streamOf,
} from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { conversationDecider, type LiveConversation } from '../conversation/conversation.decider';
import type { ConversationEvent } from '../conversation/conversation.events';
import type { MessagePart } from '../conversation/message-parts';
import { SaidMessage } from './said-message';

/**
 * Messages per read, the newest first: as many as were read before, so reading far back takes few reads, but at most
 * twice the requested number.
 */
const [LEAST_PAGE, MOST_PAGE] = [16, 128];
/** Events between two messages that are read with them: fewer than another read costs. */
const GAP = 8;
/** How far back to search for the user's words: this many messages of a branch, and this many characters of theirs. */
const [MOST_SAID_IN, MOST_SAID] = [1_000, 100_000];
const MEANWHILE: ReadonlySet<string> = new Set<RecordedMeanwhile['type']>([
  'AssistantMessageContinued',
  'ToolApprovalRequested',
  'ToolApprovalResponded',
]);
/** Checkpoints that a list shows, the newest of them. */
const MOST_CHECKPOINTS = 200;

type Recorded<Type extends ConversationEvent['type']> = RecordedEvent<Extract<ConversationEvent, { type: Type }>>;
type MessageAdded = Recorded<'UserMessageAdded' | 'AssistantMessageAdded'>;

export type RecordedAnswer = Recorded<'AssistantMessageAdded'>;
/** An event of an answer under way. */
export type RecordedMeanwhile = Recorded<
  'AssistantMessageContinued' | 'ToolApprovalRequested' | 'ToolApprovalResponded'
>;
/** The event that made a checkpoint. */
export type RecordedCheckpoint = Recorded<'ConversationCompacted'>;

/** Messages of one conversation that were read, by their ids. */
interface Remembered {
  readonly messages: Map<string, SaidMessage>;
  /** Characters, about. */
  readonly size: number;
}

/** Characters that a message takes beside its words. */
const OF_MESSAGE = 300;

/**
 * Reads messages from the log itself, each from its place, because the view may be behind the previous turn. Remembers
 * them until they are erased; reads only messages of the conversation.
 */
@Injectable()
export class History {
  private readonly cache = new SharedLruCache<string, Remembered>(REMEMBERED, ({ size }) => size);

  constructor(
    @Inject(EVENT_LOG) private readonly log: StreamReader,
    private readonly codec: EventCodec,
    private readonly decisions: Decisions,
  ) {
    decisions.onForget((key) => this.cache.delete(key.split('/')[0] ?? key));
  }

  /** The branch that ends with a message, from there backwards as far as needed; without failed and erased messages. */
  async *branch(conversation: LiveConversation, last: string): AsyncGenerator<SaidMessage> {
    // Most read no further back than to a checkpoint.
    const ends = new Set(conversation.checkpoints.valueSeq().map(({ boundary }) => boundary.messageId));
    for (let [next, seen]: [string | null, number] = [last, 0]; next !== null;) {
      const page = Math.min(Math.max(LEAST_PAGE, seen), MOST_PAGE);
      seen += page;
      const ids: string[] = [];
      for (let isEnd = false; next !== null && !isEnd && ids.length < page;) {
        ids.push(next);
        isEnd = ends.has(next);
        next = conversation.parents.get(next) ?? null;
      }
      const known = await this.known(conversation, ids);
      for (const id of ids) {
        const message = known.get(id);
        if (message?.isEmpty === false) yield message;
      }
    }
  }

  /**
   * The parts of the user's messages in the branch that ends with a message, the newest first; at least the latest, at
   * most the last 1,000 messages and 100,000 characters.
   */
  async saidByUser(conversationId: string, last: string): Promise<readonly (readonly MessagePart[])[]> {
    const { state } = await this.decisions.load(conversationDecider, conversationId);
    if (state.status !== 'Live') return [];
    const said: (readonly MessagePart[])[] = [];
    let [left, room] = [MOST_SAID_IN, MOST_SAID];
    for await (const { role, parts } of this.branch(state, last)) {
      if (role === 'user') {
        room -= parts.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0);
        if (room < 0 && said.length > 0) break;
        said.push(parts);
      }
      left -= 1;
      if (left === 0) break;
    }
    return said;
  }

  /** The answer with this id; undefined while there is none. */
  async answer(conversationId: string, answerId: string): Promise<RecordedAnswer | undefined> {
    const { state } = await this.decisions.load(conversationDecider, conversationId);
    const place = state.status === 'Live' ? state.places.get(answerId) : undefined;
    if (place === undefined) return undefined;
    const [event] = await this.eventsAt<MessageAdded>(conversationId, [place]);
    return event?.type === 'AssistantMessageAdded' ? event : undefined;
  }

  /**
   * The state of an answer in the log: its end or, while it runs, what was saved and whether it waits; undefined if it
   * is unknown.
   */
  async eventsOf(
    conversationId: string,
    answerId: string,
  ): Promise<readonly RecordedAnswer[] | readonly RecordedMeanwhile[]> {
    const ended = await this.answer(conversationId, answerId);
    if (ended !== undefined) return [ended];
    const { state } = await this.decisions.load(conversationDecider, conversationId);
    const turn = state.status === 'Live' ? state.open.get(answerId) : undefined;
    const question = state.status === 'Live' && turn !== undefined ? state.places.get(turn.messageId) : undefined;
    if (question === undefined) return [];
    const stream = streamOf(conversationDecider.category, conversationId);
    const behind = await this.log.readStream(stream, { from: question + 1 });
    const meanwhile = behind.filter(({ type }) => MEANWHILE.has(type));
    // Of these types, and the codec has checked their data.
    const events = (await this.codec.decode(meanwhile)) as RecordedMeanwhile[];
    return events.filter(({ data }) => data.messageId === answerId);
  }

  /** Whether a question goes without memories, as it was when it was asked first. */
  async memoryFor(conversationId: string, messageId: string): Promise<'off' | undefined> {
    const { state } = await this.decisions.load(conversationDecider, conversationId);
    const place = state.status === 'Live' ? state.places.get(messageId) : undefined;
    if (place === undefined) return undefined;
    const [event] = await this.eventsAt<MessageAdded>(conversationId, [place]);
    return event?.type === 'UserMessageAdded' ? event.data.memory : undefined;
  }

  /** A message as it was said; undefined where it is unknown, deleted or erased. */
  async message(conversationId: string, messageId: string): Promise<SaidMessage | undefined> {
    const { state } = await this.decisions.load(conversationDecider, conversationId);
    if (state.status !== 'Live' || !state.places.has(messageId)) return undefined;
    return (await this.known(state, [messageId])).get(messageId);
  }

  /** The checkpoint with this id; undefined where it is unknown, deleted or erased. */
  async checkpoint(conversationId: string, checkpointId: string): Promise<RecordedCheckpoint | undefined> {
    const { state } = await this.decisions.load(conversationDecider, conversationId);
    const place = state.status === 'Live' ? state.checkpoints.get(checkpointId)?.place : undefined;
    const [found] = place === undefined ? [] : await this.checkpoints(conversationId, [place]);
    return found === undefined || isErased(found.data.summary) ? undefined : found;
  }

  /** The checkpoints of a conversation, the newest first, without erased ones. */
  async checkpointsOf(conversationId: string): Promise<readonly RecordedCheckpoint[]> {
    const { state } = await this.decisions.load(conversationDecider, conversationId);
    const places = state.status === 'Live' ? [...state.checkpoints.values()].map(({ place }) => place) : [];
    const newest = places.toSorted((a, b) => b - a).slice(0, MOST_CHECKPOINTS);
    const events = await this.checkpoints(conversationId, newest);
    return events.filter(({ data }) => !isErased(data.summary)).toReversed();
  }

  /** Checkpoints by their places, in their order. */
  checkpoints(conversationId: string, places: readonly number[]): Promise<readonly RecordedCheckpoint[]> {
    return this.eventsAt<RecordedCheckpoint>(conversationId, places);
  }

  private async known(
    { conversationId, places }: LiveConversation,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, SaidMessage>> {
    const stream = streamOf(conversationDecider.category, conversationId);
    const remembered = this.cache.get(stream) ?? { messages: new Map<string, SaidMessage>(), size: 0 };
    const { messages } = remembered;
    const unread = ids.flatMap((id) => {
      const place = messages.has(id) ? undefined : places.get(id);
      return place === undefined ? [] : [place];
    });
    if (unread.length === 0) return messages;
    let { size } = remembered;
    for (const event of await this.eventsAt<MessageAdded>(conversationId, unread)) {
      const message = saidIn(event);
      messages.set(message.messageId, message);
      size += message.most + OF_MESSAGE;
    }
    this.cache.set(stream, { messages, size });
    return messages;
  }

  /**
   * The events at these revisions, in their order. The conversation knows their types, and the codec has checked their
   * data.
   */
  private async eventsAt<Event extends RecordedEvent>(
    conversationId: string,
    revisions: readonly number[],
  ): Promise<readonly Event[]> {
    const stream = streamOf(conversationDecider.category, conversationId);
    const wanted = new Set(revisions);
    const read = await Promise.all(
      runsOf(revisions).map(([from, to]) => this.log.readStream(stream, { from, limit: to - from + 1 })),
    );
    const found: readonly StoredEvent[] = read.flat().filter(({ revision }) => wanted.has(revision));
    // The revisions are of messages, and the codec has checked their data.
    return (await this.codec.decode(found)) as Event[];
  }
}

/** Revisions as runs from the first to the last, both inclusive, in which no gap is wide. */
const runsOf = (revisions: readonly number[]): readonly (readonly [number, number])[] => {
  const runs: [number, number][] = [];
  for (const revision of revisions.toSorted((a, b) => a - b)) {
    const last = runs.at(-1);
    if (last !== undefined && revision - last[1] <= GAP) last[1] = revision;
    else runs.push([revision, revision]);
  }
  return runs;
};

const saidIn = ({ type, data }: MessageAdded): SaidMessage => {
  const isShown = !isErased(data.parts) && !(type === 'AssistantMessageAdded' && data.status === 'failed');
  return new SaidMessage(
    data.messageId,
    type === 'UserMessageAdded' ? 'user' : 'assistant',
    isShown && !isErased(data.parts) ? data.parts : [],
    undefined,
    isShown ? data.tokens : undefined,
  );
};
