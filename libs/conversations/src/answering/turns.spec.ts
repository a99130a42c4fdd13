import { randomBytes } from 'node:crypto';
import { type CommandMeta, Decisions, DomainError, EventCatalogue, EventCodec, FixedClock, type Keyring, TimeOrderedIds } from '@app/kernel';
import { type ChatChunk, type ChatProvider, type ChatRequest, type Models, readCatalogue, usageOf } from '@app/models';
import { Claims } from '@app/read-store';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { MemoryReadStore } from '../../../../test/fixtures/memory-read-store';
import { conversationEvents } from '../conversation/conversation.events';
import { Answerer } from './answerer';
import { History } from './history';
import type { RetrievedPassage } from './retriever';
import { type Question, Turns } from './turns';

const ids = new TimeOrderedIds();
const [USER, AGENT, SPACE] = [ids.next(), ids.next(), ids.next()];
const meta = (): CommandMeta => ({ commandId: ids.next(), correlationId: ids.next(), actor: 'user:1', now: new Date() });
const question = (text: string, given: Partial<Question> = {}): Question => ({
  userId: USER, agent: { agentId: AGENT, spaceId: SPACE, model: null, systemPrompt: 'Be brief.', knowledgeEnabled: true, sampling: {} }, parts: [{ type: 'text', text }], kind: 'normal', channel: 'api', stream: true, ...given,
});
const passage = (text: string): RetrievedPassage => ({ documentId: ids.next(), documentName: 'a.md', documentRevision: 3, mediaType: 'text/markdown', chunkId: ids.next(), text, headings: [], start: 0, end: text.length });

/** A model that says what a test tells it to, piece by piece. */
class ScriptedChat implements ChatProvider {
  readonly requests: ChatRequest[] = [];
  script: (request: ChatRequest) => AsyncIterable<ChatChunk> = says('Yes.');

  stream(request: ChatRequest): AsyncIterable<ChatChunk> {
    this.requests.push(request);
    return this.script(request);
  }

  async complete(request: ChatRequest) {
    let text = '';
    for await (const chunk of this.stream(request)) {
      if (chunk.type === 'finish') return { text, ...chunk };
      text += chunk.text;
    }
    throw new Error('no end');
  }
}

const says = (...texts: string[]) =>
  async function* (): AsyncIterable<ChatChunk> {
    for (const text of texts) yield { type: 'text', text };
    yield { type: 'finish', finishReason: 'stop', usage: usageOf({ input: 3, output: 2 }) };
  };

const setUp = (passages: readonly RetrievedPassage[] = []) => {
  const keys = new Map<string, Buffer>();
  const keyring: Keyring = { ensureKey: async (thing) => keys.get(thing) ?? (keys.set(thing, randomBytes(32)).get(thing) as Buffer), keys: async () => keys };
  const log = new MemoryLog();
  const codec = new EventCodec(new EventCatalogue(conversationEvents), keyring);
  const chat = new ScriptedChat();
  const catalogue = readCatalogue(undefined, 'USD');
  const models = { catalogue, chat: () => ({ model: catalogue.models.get('local-chat'), provider: chat }) } as unknown as Models;
  const clock = new FixedClock();
  const history = new History(log, codec);
  const store = new MemoryReadStore();
  /** Another process on the same stores. */
  const process = () =>
    new Turns({
      decisions: new Decisions(log, codec),
      history,
      clock,
      claims: new Claims(store, clock, ids.next(), 10_000),
      answerer: new Answerer(models, { retrieve: async () => passages }, 'USD', { warn: () => undefined }),
    });
  const types = () => log.events.map(({ type }) => type);
  return { turns: process(), process, chat, clock, log, types };
};

const waiting = () => {
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  return { held, release };
};

describe('a turn', () => {
  it('is recorded as question and answer, with what it cites', async () => {
    const { turns, chat, types } = setUp([passage('Zebras sleep standing up.'), passage('Backups run at night.')]);
    chat.script = says('They sleep standing [', '1].');
    const turn = await turns.ask(question('How do zebras sleep?'), meta());
    const heard = [];
    for await (const event of turn.follow()) heard.push(event);
    const { answer } = await turn.finished;
    expect(heard.map(({ type }) => type)).toEqual(['text', 'text', 'source']);
    expect(answer).toMatchObject({ status: 'complete', finishReason: 'stop', model: 'local-chat', usage: { totalTokens: 5, cost: '0' }, parts: [{ text: 'They sleep standing [1].' }, { type: 'source-document', quote: 'Zebras sleep standing up.' }] });
    expect(types()).toEqual(['ConversationStarted', 'UserMessageAdded', 'AssistantMessageAdded']);
    expect(chat.requests[0]).toMatchObject({ system: 'Be brief.', messages: [{ role: 'user', text: 'How do zebras sleep?' }], sources: [{ number: 1 }, { number: 2 }] });
  });

  it('shows the model its own branch, without answers that failed', async () => {
    const { turns, chat } = setUp();
    const first = await (await turns.ask(question('One?'), meta())).finished;
    const { conversationId } = first;
    chat.script = () => {
      throw new DomainError('upstream_error');
    };
    await (await turns.ask(question('Two?', { conversationId }), meta())).finished;
    chat.script = says('Three.');
    await (await turns.ask(question('Three?', { conversationId }), meta())).finished;
    await (await turns.ask(question('Instead?', { conversationId, parentId: first.answer.answerId }), meta())).finished;
    expect(chat.requests.map(({ messages }) => messages.map(({ text }) => text))).toEqual([['One?'], ['One?', 'Yes.', 'Two?'], ['One?', 'Yes.', 'Two?', 'Three?'], ['One?', 'Yes.', 'Instead?']]);
  });

  it.each(['upstream_error', 'upstream_timeout'])('that fails with %s keeps what was said', async (code) => {
    const { turns, chat, types } = setUp();
    chat.script = async function* () {
      yield { type: 'text', text: 'Half an ' };
      throw new DomainError(code);
    };
    const { answer } = await (await turns.ask(question('Why?'), meta())).finished;
    expect(answer).toMatchObject({ status: 'failed', finishReason: 'error', errorCode: code, parts: [{ type: 'text', text: 'Half an ' }] });
    expect(types()).toEqual(['ConversationStarted', 'UserMessageAdded', 'AssistantMessageAdded']);
  });

  it('that is stopped keeps what was said, and nobody else is served meanwhile', async () => {
    const { turns, chat } = setUp();
    const { held, release } = waiting();
    chat.script = async function* ({ signal }) {
      yield { type: 'text', text: 'Half an ' };
      release();
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    };
    const turn = await turns.ask(question('Why?'), meta());
    await held;
    await expect(turns.ask(question('And?', { conversationId: turn.conversationId }), meta())).rejects.toThrow('turn_in_progress');
    expect(turns.stop(turn.conversationId)).toBe(true);
    expect((await turn.finished).answer).toMatchObject({ status: 'stopped', parts: [{ text: 'Half an ' }] });
    chat.script = says('Because.');
    expect((await (await turns.ask(question('And?', { conversationId: turn.conversationId }), meta())).finished).answer.status).toBe('complete');
  });
});

describe('a repeated question', () => {
  it('joins its turn while that runs, and finds it finished after', async () => {
    const { turns, chat, process, types } = setUp();
    const { held, release } = waiting();
    chat.script = async function* () {
      await held;
      yield* says('Yes.')();
    };
    const command = meta();
    const first = await turns.ask(question('Why?'), command);
    expect(await turns.ask(question('Why?'), command)).toBe(first);
    release();
    const { answer } = await first.finished;
    for (const again of [turns, process()]) expect((await (await again.ask(question('Why?'), command)).finished).answer).toEqual(answer);
    expect(types()).toHaveLength(3);
  });
});

describe('after the death of its process', () => {
  const dieWhileAnswering = async () => {
    const set = setUp();
    set.chat.script = () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) });
    const command = meta();
    const turn = await set.turns.ask(question('Why?'), command);
    set.chat.script = says('Because.');
    return { ...set, command, conversationId: turn.conversationId };
  };

  it('a turn is answered by its repeat, once its claim has run out', async () => {
    const { process, clock, command, types } = await dieWhileAnswering();
    await expect(process().ask(question('Why?'), command)).rejects.toThrow('turn_in_progress');
    clock.advance(10_001);
    expect((await (await process().ask(question('Why?'), command)).finished).answer).toMatchObject({ status: 'complete', parts: [{ text: 'Because.' }] });
    expect(types()).toEqual(['ConversationStarted', 'UserMessageAdded', 'AssistantMessageAdded']);
  });

  it('a turn is recorded as failed by the next question', async () => {
    const { process, clock, conversationId, types } = await dieWhileAnswering();
    clock.advance(10_001);
    await (await process().ask(question('Again?', { conversationId }), meta())).finished;
    expect(types()).toEqual(['ConversationStarted', 'UserMessageAdded', 'AssistantMessageAdded', 'UserMessageAdded', 'AssistantMessageAdded']);
  });

  it("a stranger's question changes nothing", async () => {
    const { process, clock, conversationId, types } = await dieWhileAnswering();
    clock.advance(10_001);
    await expect(process().ask(question('Mine?', { conversationId, userId: ids.next() }), meta())).rejects.toThrow('not_found');
    expect(types()).toEqual(['ConversationStarted', 'UserMessageAdded']);
  });
});
