import type { MeteredCall } from '@app/spending';
import {
  endTurns,
  ids,
  meta,
  PARTICIPANTS,
  question,
  says,
  scriptedTurns,
  unmetered,
} from '../../../../test/fixtures/scripted-turns';

afterEach(endTurns);

const OTHERS = [
  ['another user', { ...PARTICIPANTS, userId: ids.next() }],
  ['another Agent', { ...PARTICIPANTS, agentId: ids.next() }],
] as const;

describe('a turn', () => {
  it.each(OTHERS)('is not followed, stopped, looked at nor asked about by %s', async (_, others) => {
    const { turns, chat, types } = scriptedTurns();
    const { promise: told, resolve: goOn } = Promise.withResolvers<void>();
    chat.script = async function* (request) {
      await told;
      yield* says('Somebody.')(request);
    };
    const { conversationId, answerId, finished } = await turns.ask(question('Who?'), meta());
    for (const asked of [
      turns.resume(others, conversationId, answerId, meta()),
      turns.resume(others, conversationId, undefined, meta()),
      turns.stop(others, conversationId, answerId, meta()),
      turns.question(others, conversationId, answerId),
      turns.checkConversation(others, conversationId),
      turns.checkAnswer(others, conversationId, answerId),
      turns.checkCall(others, conversationId, answerId, 'call_0'),
    ])
      await expect(asked).rejects.toMatchObject({ code: 'not_found' });
    expect(types()).toEqual(['ConversationStarted', 'UserMessageAdded']);
    goOn();
    expect((await finished).answer.status).toBe('complete');
  });

  it('is not followed by the id of its answer in a conversation of somebody else', async () => {
    const { turns, chat } = scriptedTurns();
    const { promise: told, resolve: goOn } = Promise.withResolvers<void>();
    chat.script = async function* (request) {
      await told;
      yield* says('A secret.')(request);
    };
    const { answerId, finished } = await turns.ask(question('Who?'), meta());
    const userId = ids.next();
    const own = await turns.ask(question('And?', { userId }), meta());
    const asked = turns.resume({ ...PARTICIPANTS, userId }, own.conversationId, answerId, meta());
    await expect(asked).rejects.toMatchObject({ code: 'not_found', facts: { kind: 'message', id: answerId } });
    goOn();
    await Promise.all([finished, own.finished]);
  });

  it.each(OTHERS)('is not gone on with by %s, nor answered once more', async (_, { userId, agentId }) => {
    const begin = jest.fn(unmetered.begin);
    const { turns, types } = scriptedTurns([], { ...unmetered, begin });
    const { conversationId, answerId, finished } = await turns.ask(question('Who?'), meta());
    await finished;
    const before = types();
    const { agent } = question('');
    const foreign = { conversationId, userId, agent: { ...agent, agentId } };
    for (const given of [foreign, { ...foreign, regenerates: answerId }])
      await expect(turns.ask(question('And?', given), meta())).rejects.toMatchObject({ code: 'not_found' });
    expect(types()).toEqual(before);
    expect(begin).toHaveBeenCalledTimes(1);
  });

  it('is known by its answer, and no other is', async () => {
    const { turns } = scriptedTurns();
    const { conversationId, answerId, finished } = await turns.ask(question('Who?'), meta());
    await finished;
    await expect(turns.checkAnswer(PARTICIPANTS, conversationId, answerId)).resolves.toBeUndefined();
    await expect(turns.checkConversation(PARTICIPANTS, conversationId)).resolves.toBeUndefined();
    expect(await turns.resume(PARTICIPANTS, conversationId, undefined, meta())).toBeUndefined();
    for (const asked of [
      turns.checkAnswer(PARTICIPANTS, conversationId, ids.next()),
      turns.resume(PARTICIPANTS, conversationId, ids.next(), meta()),
    ])
      await expect(asked).rejects.toMatchObject({ code: 'not_found', facts: { kind: 'message' } });
    expect(await turns.stop(PARTICIPANTS, conversationId, ids.next(), meta())).toBe(false);
  });

  it('pays nothing for a question that is not recorded, nor for the repeat of one that is', async () => {
    const cancel = jest.fn();
    const begin = async (...given: Parameters<typeof unmetered.begin>): Promise<MeteredCall> => ({
      ...(await unmetered.begin(...given)),
      cancel,
    });
    const { turns, chat, log, process } = scriptedTurns([], { ...unmetered, begin });
    chat.script = says('Somebody.');
    const command = meta();
    await (
      await turns.ask(question('Who?'), command)
    ).finished;
    expect(cancel).toHaveBeenCalledTimes(0);
    await (
      await process().ask(question('Who?'), command)
    ).finished;
    expect(cancel).toHaveBeenCalledTimes(1);
    jest.spyOn(log, 'append').mockRejectedValueOnce(new Error('full'));
    await expect(turns.ask(question('And?'), meta())).rejects.toThrow('full');
    expect(cancel).toHaveBeenCalledTimes(2);
  });
});

describe('the context of an answer', () => {
  it('has nothing of an answer that failed', async () => {
    const { turns, chat } = scriptedTurns();
    chat.script = async function* (request) {
      for await (const chunk of says('Perhaps')(request)) {
        yield chunk;
        throw new Error('away');
      }
    };
    const { conversationId, finished } = await turns.ask(question('Who?'), meta());
    expect((await finished).answer.status).toBe('failed');
    chat.script = says('Somebody.');
    await (
      await turns.ask(question('And now?', { conversationId }), meta())
    ).finished;
    expect(chat.requests.at(-1)?.messages.map(({ role }) => role)).toEqual(['user', 'user']);
  });
});
