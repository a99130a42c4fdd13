import { UpstreamFailure, usageOf } from '@app/models';
import type { Settlement } from '@app/spending';
import { pay, weather } from '../../../../test/fixtures/scripted-tools';
import {
  calls,
  endTurns,
  ids,
  inTurn,
  meta,
  PARTICIPANTS,
  question,
  says,
  saysHalf,
  scriptedTurns,
} from '../../../../test/fixtures/scripted-turns';

afterEach(endTurns);

/** Holds for each call, and what became of each: its settlement, or that it was given back. */
const metered = () => {
  const ends: (Pick<Settlement, 'outcome' | 'usage'> | 'given back')[][] = [];
  const begin = async () => {
    const end: (typeof ends)[number] = [];
    ends.push(end);
    const settle = async ({ outcome, usage }: Settlement) => void end.push({ outcome, usage });
    const cancel = () => void end.push('given back');
    return { invocationId: ids.next(), isHeld: true, isIncludedUsage: false, cancel, settle };
  };
  return { ...scriptedTurns([], { begin }), ends };
};

describe('what is held for a call of the model', () => {
  it('is given back where no model is called', async () => {
    const { turns, rights, ends } = metered();
    rights.mayUse = false;
    await (
      await turns.ask(question('Who?'), meta())
    ).finished;
    expect(ends).toEqual([['given back']]);
  });

  it('is settled once for each step', async () => {
    const { turns, chat, tools, ends } = metered();
    tools.push(weather());
    chat.script = inTurn(calls('', ['weather', {}]), says('Rain.'));
    await (
      await turns.ask(question('Weather?'), meta())
    ).finished;
    const usage = usageOf({ input: 3, output: 2 });
    expect(ends).toEqual([[{ outcome: 'ok', usage }], [{ outcome: 'ok', usage }]]);
  });

  it('is settled for a call that broke off, and for the one in its place', async () => {
    const { turns, chat, ends } = metered();
    chat.script = async function* (request) {
      await request.onBrokenOff?.(new UpstreamFailure('broken', { work: { model: request.model, ms: 5 } }));
      yield { type: 'again' };
      yield* says('All of it.')(request);
    };
    const { answer } = await (await turns.ask(question('What?'), meta())).finished;
    expect(answer.status).toBe('complete');
    expect(ends).toMatchObject([[{ outcome: 'failed' }], [{ outcome: 'ok' }]]);
  });

  it('is settled with what was said of an answer that is stopped, as left on purpose', async () => {
    const { turns, chat, ends } = metered();
    chat.script = saysHalf;
    const turn = await turns.ask(question('What?'), meta());
    await turn.follow().next();
    expect(await turns.stop(PARTICIPANTS, turn.conversationId, turn.answerId, meta())).toBe(true);
    expect((await turn.finished).answer.status).toBe('stopped');
    expect(ends).toMatchObject([[{ outcome: 'aborted', usage: { outputTokens: expect.any(Number) as number } }]]);
    expect(ends[0]).not.toMatchObject([{ usage: { outputTokens: 0 } }]);
  });

  it('is settled with what was said of an answer that a model here broke off, and with nothing where it said nothing', async () => {
    const { turns, chat, ends } = metered();
    const breaks = (text: string) =>
      async function* () {
        if (text !== '') yield { type: 'text' as const, text };
        throw new Error('out of memory');
      };
    for (const text of ['Half an answer', '']) {
      chat.script = breaks(text);
      await (
        await turns.ask(question('What?'), meta())
      ).finished;
    }
    expect(ends).toMatchObject([[{ outcome: 'failed' }], [{ outcome: 'failed', usage: usageOf({}) }]]);
    expect(ends[0]).not.toMatchObject([{ usage: { outputTokens: 0 } }]);
  });
});

it('an answer has no tools that must be approved where nobody can approve them', async () => {
  const { answerer, chat, tools } = scriptedTurns();
  const paid = pay();
  tools.push(weather(), paid);
  chat.script = inTurn(calls('', ['pay', {}]), says('I cannot.'));
  const outcome = await answerer.answer({
    agent: question('').agent,
    requester: { userId: PARTICIPANTS.userId },
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Pay?' }] }],
    signal: new AbortController().signal,
    mayWait: false,
    save: async () => undefined,
    say: () => undefined,
  });
  expect(chat.requests[0]?.tools?.map(({ name }) => name)).toEqual(['weather']);
  expect(outcome).toMatchObject({
    status: 'complete',
    parts: [{ toolName: 'pay', state: 'output-error' }, { type: 'step-start' }, { text: 'I cannot.' }],
  });
  expect(paid.inputs).toEqual([]);
});

it.each([
  ['of then', true, 'local-chat'],
  ['of its Agent', false, null],
] as const)('an answer that waited goes on with the model %s', async (_, mayUse, model) => {
  const { turns, chat, tools, models } = scriptedTurns();
  tools.push(pay());
  chat.script = inTurn(calls('', ['pay', {}]), says('Done.'));
  const turn = await turns.ask(question('Pay?'), meta());
  await turn.finished;
  const asked = jest.spyOn(models, 'chat');
  const { agent, userId } = question('');
  const { conversationId, answerId } = turn;
  const call = { participants: PARTICIPANTS, agent, requester: { userId }, conversationId, answerId };
  await turns.respond({ ...call, callId: 'call_0', approved: true, mayUse: () => mayUse }, meta());
  await (
    await turns.resume(PARTICIPANTS, conversationId, answerId, meta())
  ).finished;
  expect(asked).toHaveBeenCalledWith(model);
});

it('an answer whose conversation cannot be read is closed as failed by who looks for such answers', async () => {
  const { turns, chat, log, types, history, process, clock } = scriptedTurns();
  const read = log.readStream.bind(log);
  const append = log.append.bind(log);
  jest.spyOn(log, 'append').mockImplementation(async (...given) => {
    const appended = await append(...given);
    jest.spyOn(log, 'readStream').mockRejectedValue(new Error('it is damaged'));
    return appended;
  });
  const { conversationId, answerId, finished } = await turns.ask(question('Who?'), meta());
  await expect(finished).rejects.toThrow('it is damaged');
  jest.spyOn(log, 'readStream').mockImplementation(read);
  jest.spyOn(log, 'append').mockImplementation(append);
  clock.advance(10_001);
  await process().closeAbandonedTurns();
  expect(types().at(-1)).toBe('AssistantMessageAdded');
  expect((await history.answer(conversationId, answerId))?.data).toMatchObject({
    status: 'failed',
    errorCode: 'unavailable',
  });
  expect(chat.requests).toEqual([]);
});
