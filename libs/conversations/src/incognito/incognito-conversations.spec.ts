import { InstanceSecret, TimeOrderedIds } from '@app/kernel';
import type { MeteredCall } from '@app/spending';
import { FixedClock } from '../../../../test/fixtures/fixed-clock';
import type { Answerer } from '../answering/answerer';
import type { AnsweringAgent } from '../answering/answering';
import type { Participants } from '../conversation/conversation.commands';
import { IncognitoConversations, type IncognitoQuestion } from './incognito-conversations';
import { IncognitoIds } from './incognito-ids';

const START = new Date('2026-11-23T12:00:00.000Z');
const MINUTE_MS = 60_000;
const ids = new TimeOrderedIds();
const secret = new InstanceSecret(Buffer.alloc(32, 7));
const command = () => ({ commandId: ids.next() });
const agent: AnsweringAgent = {
  agentId: 'agent',
  spaceId: 'space',
  model: null,
  systemPrompt: '',
  knowledgeEnabled: false,
  sampling: {},
};

/** Answers with the question's own text, at once or when told to. */
const setUp = (given: { answers?: () => Promise<void>; reserve?: () => Promise<MeteredCall | undefined> } = {}) => {
  const clock = new FixedClock(START);
  const answerer: Pick<Answerer, 'reserve' | 'answer'> = {
    reserve: given.reserve ?? (async () => undefined),
    answer: async ({ messages, signal, say }) => {
      const last = messages.at(-1)?.content[0];
      const parts = [{ type: 'text' as const, text: last?.type === 'text' ? last.text : '' }];
      say(parts);
      const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
      if (given.answers !== undefined) await Promise.race([given.answers(), aborted]);
      const status = signal.aborted ? ('stopped' as const) : ('complete' as const);
      return { parts, status, finishReason: 'stop' as const, model: 'm', usage: null };
    },
  };
  const conversations = new IncognitoConversations({ answerer, clock, ids: new IncognitoIds(secret, 'here') });
  const question = (text: string, more: Partial<IncognitoQuestion> = {}): IncognitoQuestion => ({
    userId: 'user',
    agent,
    parts: [{ type: 'text', text }],
    ...more,
  });
  const ask = async (text: string, more: Partial<IncognitoQuestion> = {}) => {
    const turn = await conversations.ask(question(text, more), command());
    await turn.finished;
    return turn.conversationId;
  };
  const own = (id: string, userId = 'user') => conversations.own({ userId, agentId: 'agent' }, id);
  return { clock, conversations, ask, own, question };
};

/** Whose there are. */
const all = async (conversations: IncognitoConversations): Promise<readonly Participants[]> => {
  const found: Participants[] = [];
  await conversations.endGone(async (participants) => found.push(participants) === 0);
  return found;
};

const NOT_FOUND = { code: 'not_found' };
/** As long as three of them fit. */
const LONG = 'x'.repeat(2.5 * 1024 ** 2);

describe('incognito conversations', () => {
  it('end after 30 idle minutes, and after 12 hours however busy they are', async () => {
    const { clock, ask, own } = setUp();
    const [idle, busy] = [await ask('A'), await ask('B')];
    for (let minutes = 0; minutes < 29; minutes += 1) clock.advance(MINUTE_MS);
    await ask('C', { conversationId: busy });
    clock.advance(MINUTE_MS);
    expect(() => own(idle)).toThrow(expect.objectContaining(NOT_FOUND));
    expect(own(busy).messageCount).toBe(4);
    for (let hours = 0; hours < 11; hours += 1)
      for (let half = 0; half < 3; half += 1) {
        clock.advance(20 * MINUTE_MS);
        own(busy);
      }
    clock.advance(29 * MINUTE_MS);
    own(busy);
    clock.advance(29 * MINUTE_MS);
    expect(() => own(busy)).toThrow(expect.objectContaining(NOT_FOUND));
  });

  it('end with their user or Agent, those of others stay', async () => {
    const { conversations, ask, own, question } = setUp({ answers: () => new Promise(() => undefined) });
    const turn = await conversations.ask(question('A'), command());
    const other = await conversations.ask(question('B', { userId: 'other' }), command());
    await conversations.endGone(async ({ userId }) => userId === 'user');
    await expect(turn.finished).rejects.toMatchObject(NOT_FOUND);
    expect(() => own(turn.conversationId)).toThrow(expect.objectContaining(NOT_FOUND));
    await expect(ask('C', { conversationId: turn.conversationId })).rejects.toMatchObject(NOT_FOUND);
    expect(own(other.conversationId, 'other').messageCount).toBe(2);
    expect(conversations.stop({ userId: 'other', agentId: 'agent' }, other.conversationId)).toBe(true);
  });

  it('of one user make way for new ones, the one first that was not used for longest; those of others stay', async () => {
    const { clock, ask, own } = setUp();
    const foreign = await ask('A', { userId: 'other' });
    const all: string[] = [];
    for (let count = 0; count < 20; count += 1) {
      clock.advance(1_000);
      all.push(await ask(`Q${count}`));
    }
    clock.advance(1_000);
    const [first = '', second = '', third = ''] = all;
    own(first);
    const next = await ask('One more');
    expect(() => own(second)).toThrow(expect.objectContaining(NOT_FOUND));
    for (const id of [first, third, next]) expect(own(id).messageCount).toBe(2);
    expect(own(foreign, 'other').messageCount).toBe(2);
  });

  it('of one user take 16 MiB at most: others make way, and what is too large by itself is rejected', async () => {
    const { clock, ask, own } = setUp();
    const first = await ask(LONG);
    clock.advance(1_000);
    const second = await ask(LONG);
    clock.advance(1_000);
    const third = await ask(LONG);
    expect(own(second).bytes).toBeGreaterThan(5 * 1024 ** 2);
    await ask(LONG, { conversationId: third });
    expect(() => own(first)).toThrow(expect.objectContaining(NOT_FOUND));
    await ask(LONG, { conversationId: third });
    const before = own(third).messageCount;
    await expect(ask(LONG, { conversationId: third })).rejects.toMatchObject({ code: 'too_large' });
    expect(own(third).messageCount).toBe(before);
  });

  it('of all users take 256 MiB at most', async () => {
    const { ask } = setUp();
    let full: unknown;
    for (let users = 0; users < 60 && full === undefined; users += 1)
      await ask(LONG, { userId: `user${users}` }).catch((error: unknown) => (full = error));
    expect(full).toMatchObject({ code: 'unavailable', facts: { reason: 'incognito_full' } });
  });

  it('that are answering do not make way, nor end for being idle', async () => {
    let finish: () => void = () => undefined;
    const { clock, conversations, question, own } = setUp({
      answers: () => new Promise((resolve) => (finish = resolve)),
    });
    const turn = await conversations.ask(question('A'), command());
    clock.advance(31 * MINUTE_MS);
    conversations.endOld();
    finish();
    await turn.finished;
    expect(own(turn.conversationId).list()[0]).toMatchObject({ status: 'complete', parts: [{ text: 'A' }] });
  });

  it('keep nothing of a question that was not let through', async () => {
    let isLetThrough = true;
    const reserve = async () => {
      if (!isLetThrough) throw Object.assign(new Error('used up'), { code: 'usage_limit_exceeded' });
      return undefined;
    };
    const { ask, own, conversations, question } = setUp({ reserve });
    const id = await ask('A');
    const [answered] = own(id).list();
    isLetThrough = false;
    await expect(ask(LONG, { conversationId: id })).rejects.toThrow('used up');
    const commandId = ids.next();
    await expect(conversations.ask(question('C'), { commandId })).rejects.toThrow('used up');
    expect(await all(conversations)).toEqual([{ userId: 'user', agentId: 'agent' }]);
    expect(
      own(id)
        .list()
        .map(({ parts }) => parts[0]),
    ).toEqual([
      { type: 'text', text: 'A' },
      { type: 'text', text: 'A' },
    ]);
    expect(own(id).bytes).toBeLessThan(200);
    isLetThrough = true;
    await ask('D', { conversationId: id });
    expect(own(id).messageCount).toBe(4);
    expect(own(id).list()[1]?.parentId).toBe(answered?.id);
    expect((await (await conversations.ask(question('C'), { commandId })).finished).answer.parts).toMatchObject([
      { text: 'C' },
    ]);
  });

  it('that are all answering leave no room for another', async () => {
    const { conversations, question } = setUp({ answers: () => new Promise(() => undefined) });
    const asked = () => conversations.ask(question('A'), command());
    for (let count = 0; count < 20; count += 1) await asked();
    await expect(asked()).rejects.toMatchObject({ code: 'too_large' });
    await conversations.close(10);
  });

  it('are nobody else’s, nor another Agent’s', async () => {
    const { conversations, ask, own } = setUp();
    const id = await ask('A');
    expect(() => own(id, 'other')).toThrow(expect.objectContaining(NOT_FOUND));
    expect(() => conversations.own({ userId: 'user', agentId: 'another' }, id)).toThrow(
      expect.objectContaining(NOT_FOUND),
    );
  });

  it('change only at the revision that was asked for', async () => {
    const { conversations, ask, own, question } = setUp();
    const stale = { code: 'precondition_failed' };
    const at = (ifRevision: number) => ({ ...command(), ifRevision });
    await expect(conversations.ask(question('A'), at(3))).rejects.toMatchObject(stale);
    const conversationId = await ask('A');
    const { revision } = own(conversationId);
    const more = question('B', { conversationId });
    await expect(conversations.ask(more, at(revision - 1))).rejects.toMatchObject(stale);
    const repeated = at(revision);
    const turn = await conversations.ask(more, repeated);
    await turn.finished;
    expect(await conversations.ask(more, repeated)).toBe(turn);
    expect(own(conversationId).revision).toBe(revision + 3);
    const participants = { userId: 'user', agentId: 'agent' };
    expect(() => conversations.delete(participants, conversationId, at(revision))).toThrow(
      expect.objectContaining(stale),
    );
    conversations.delete(participants, conversationId, at(revision + 3));
    expect(() => own(conversationId)).toThrow(expect.objectContaining(NOT_FOUND));
  });

  it('that end while a question is let through pay nothing for it', async () => {
    const [{ promise: reserved, resolve }, cancel] = [Promise.withResolvers<MeteredCall>(), jest.fn()];
    let isFirst = true;
    const reserve = () => (isFirst ? Promise.resolve(undefined) : reserved);
    const { conversations, ask, question } = setUp({ reserve });
    const conversationId = await ask('A');
    isFirst = false;
    const asking = conversations.ask(question('B', { conversationId }), command());
    conversations.delete({ userId: 'user', agentId: 'agent' }, conversationId, {});
    resolve({ cancel } as unknown as MeteredCall); // Nothing else of it is used.
    await expect(asking).rejects.toMatchObject(NOT_FOUND);
    expect(cancel).toHaveBeenCalledTimes(1);
  });

  it('are stopped and read by the answer that is named', async () => {
    const { conversations, question } = setUp({ answers: () => new Promise(() => undefined) });
    const participants = { userId: 'user', agentId: 'agent' };
    const turn = await conversations.ask(question('A'), command());
    const { conversationId, answerId } = turn;
    expect(conversations.resume(participants, conversationId, answerId)).toBe(turn);
    expect(() => conversations.resume(participants, conversationId, ids.next())).toThrow(
      expect.objectContaining(NOT_FOUND),
    );
    expect(conversations.stop(participants, conversationId, ids.next())).toBe(false);
    expect(conversations.stop(participants, conversationId, answerId)).toBe(true);
    expect((await turn.finished).answer.status).toBe('stopped');
    expect(conversations.stop(participants, conversationId, answerId)).toBe(false);
  });

  it('are stopped when the process ends, and keep what was said', async () => {
    const { conversations, question } = setUp({ answers: () => new Promise(() => undefined) });
    const turn = await conversations.ask(question('A'), command());
    await conversations.close(10);
    expect((await turn.finished).answer).toMatchObject({ status: 'stopped', parts: [{ text: 'A' }] });
  });

  it('are begun once by a command that comes twice, also at once', async () => {
    const { clock, conversations, question } = setUp();
    const commandId = ids.next();
    const [first, again] = await Promise.all([
      conversations.ask(question('A'), { commandId }),
      conversations.ask(question('A'), { commandId }),
    ]);
    expect(again).toBe(first);
    await expect(conversations.ask(question('B'), { commandId })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
    await first.finished;
    clock.advance(31 * MINUTE_MS);
    expect((await conversations.ask(question('A'), { commandId })).conversationId).not.toBe(first.conversationId);
  });
});

describe('the id of one', () => {
  const here = new IncognitoIds(secret, 'here');

  it('is a UUIDv7 that names its process, and is told from every other', () => {
    for (let count = 0; count < 200; count += 1) {
      const id = here.next(START);
      expect(id).toMatch(/^01[0-9a-f]{6}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(new IncognitoIds(secret, 'there').tagIn(id)).toBe(here.tagOf('here'));
      expect(here.tagIn(ids.next())).toBeUndefined();
    }
    expect(here.tagOf('there')).not.toBe(here.tagOf('here'));
  });

  it.each(['', 'x', '01900000-0000-7000-8000-000000000000', 'GET', '../..'])('is not %j', (text) =>
    expect(here.tagIn(text)).toBeUndefined(),
  );

  it('is not made by others than the instance, nor from another by changing it', () => {
    const forged = new IncognitoIds(new InstanceSecret(Buffer.alloc(32, 8)), 'here');
    expect(here.tagIn(forged.next(START))).toBeUndefined();
    const id = here.next(START);
    expect(here.tagIn(`${id.slice(0, 24)}${id[24] === '0' ? '1' : '0'}${id.slice(25)}`)).toBeUndefined();
  });
});
