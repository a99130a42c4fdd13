import { deriveId, DomainError, Unavailable } from '@app/kernel';
import { textOfMessage, userText } from '@app/models';
import type { CallToMeter } from '@app/spending';
import {
  PARTICIPANTS,
  endTurns,
  ids,
  meta,
  question,
  says,
  saysHalf,
  scriptedTurns,
  unmetered,
  waiting,
} from '../../../../test/fixtures/scripted-turns';
import { until } from '../../../../test/fixtures/until';
import type { RetrievedPassage } from './retriever';

const passage = (text: string): RetrievedPassage => {
  const chunk = { chunkId: ids.next(), text, start: 0, end: text.length };
  const document = { documentId: ids.next(), documentName: 'a.md', documentRevision: 3, mediaType: 'text/markdown' };
  return { ...document, ...chunk, headings: [], chunks: [chunk] };
};

afterEach(endTurns);

describe('a turn', () => {
  it('is recorded as question and answer, with what it cites', async () => {
    const { turns, chat, types } = scriptedTurns([
      passage('Zebras sleep standing up.'),
      passage('Backups run at night.'),
    ]);
    chat.script = says('They sleep standing [', '1].');
    const turn = await turns.ask(question('How do zebras sleep?'), meta());
    const { answer } = await turn.finished;
    expect(turn.parts).toEqual(answer.parts);
    expect(answer).toMatchObject({
      status: 'complete',
      finishReason: 'stop',
      model: 'local-chat',
      usage: { totalTokens: 5, cost: '0' },
      parts: [{ text: 'They sleep standing [1].' }, { type: 'source-document', quote: 'Zebras sleep standing up.' }],
    });
    expect(types()).toEqual(['ConversationStarted', 'UserMessageAdded', 'AssistantMessageAdded']);
    expect(chat.requests[0]).toMatchObject({
      system: 'Be brief.',
      messages: [userText('How do zebras sleep?')],
      sources: [{ number: 1 }, { number: 2 }],
    });
  });

  it('is recorded with its tokens, so that nobody counts them again, unless it is long', async () => {
    const { turns, chat, log } = scriptedTurns();
    const recorded = (type: string): unknown =>
      JSON.parse(log.events.findLast((event) => event.type === type)?.data ?? 'null');
    chat.script = says('Standing up, most of them.');
    const short = await turns.ask(question('How do zebras sleep?'), meta());
    await short.finished;
    expect(recorded('UserMessageAdded')).toMatchObject({ tokens: 10 });
    expect(recorded('AssistantMessageAdded')).toMatchObject({ tokens: 11 });
    chat.script = says('word '.repeat(20_000));
    const { conversationId } = short;
    await (
      await turns.ask({ ...question('word '.repeat(20_000)), conversationId }, meta())
    ).finished;
    expect(recorded('UserMessageAdded')).not.toHaveProperty('tokens');
    expect(recorded('AssistantMessageAdded')).not.toHaveProperty('tokens');
  });

  it('says which models its search went without', async () => {
    const { turns } = scriptedTurns([passage('Zebras sleep standing up.')], unmetered, ['vector']);
    const { answer } = await (await turns.ask(question('How do zebras sleep?'), meta())).finished;
    expect(answer).toMatchObject({ status: 'complete', degraded: ['vector'] });
  });

  it('shows the model its own branch, without answers that failed', async () => {
    const { turns, chat } = scriptedTurns();
    const first = await (await turns.ask(question('One?'), meta())).finished;
    const { conversationId } = first;
    chat.script = () => {
      throw new DomainError('upstream_error');
    };
    await (
      await turns.ask(question('Two?', { conversationId }), meta())
    ).finished;
    chat.script = says('Three.');
    await (
      await turns.ask(question('Three?', { conversationId }), meta())
    ).finished;
    await (
      await turns.ask(question('Instead?', { conversationId, parentId: first.answer.answerId }), meta())
    ).finished;
    expect(chat.requests.map(({ messages }) => messages.map(textOfMessage))).toEqual([
      ['One?'],
      ['One?', 'Yes.', 'Two?'],
      ['One?', 'Yes.', 'Two?', 'Three?'],
      ['One?', 'Yes.', 'Instead?'],
    ]);
  });

  it.each(['upstream_error', 'upstream_timeout'])('that fails with %s keeps what was said', async (code) => {
    const { turns, chat, types } = scriptedTurns();
    chat.script = async function* () {
      yield { type: 'text', text: 'Half an ' };
      throw new DomainError(code);
    };
    const { answer } = await (await turns.ask(question('Why?'), meta())).finished;
    expect(answer).toMatchObject({
      status: 'failed',
      finishReason: 'error',
      errorCode: code,
      parts: [{ type: 'text', text: 'Half an ' }],
    });
    expect(types()).toEqual(['ConversationStarted', 'UserMessageAdded', 'AssistantMessageAdded']);
  });

  it('holds as much as its question and its branch may have tokens, and what passages usually have', async () => {
    const begun: CallToMeter[] = [];
    const begin = async (call: CallToMeter) => {
      begun.push(call);
      return {
        invocationId: ids.next(),
        isHeld: true,
        isIncludedUsage: false,
        cancel: () => undefined,
        settle: async () => undefined,
      };
    };
    const { turns } = scriptedTurns([], { begin });
    const asked = async (text: string, given = {}) => (await turns.ask(question(text, given), meta())).finished;
    const { conversationId, answer } = await asked('12345678'.repeat(1_000));
    await asked('And?', { conversationId });
    await asked('Or?', { conversationId, parentId: answer.answerId });
    await asked('x'.repeat(1_000_000));
    expect(begun.map(({ estimate, mostInput }) => [estimate.inputTokens, mostInput])).toEqual([
      [10_003, 16_009],
      [8_004, 16_017],
      [8_004, 16_016],
      [258_003, 258_003],
    ]);
  });

  it('that cannot read its conversation gives back what was held for it', async () => {
    const cancel = jest.fn();
    const { turns, history, chat } = scriptedTurns([], {
      begin: async () => ({
        invocationId: ids.next(),
        isHeld: false,
        isIncludedUsage: false,
        cancel,
        settle: () => Promise.reject(new Error('nothing was called')),
      }),
    });
    jest.spyOn(history, 'branch').mockImplementation(() => {
      throw new Unavailable('log', 'away');
    });
    const turn = await turns.ask(question('Why?'), meta());
    await expect(turn.finished).rejects.toThrow(Unavailable);
    expect([cancel.mock.calls.length, chat.requests.length]).toEqual([1, 0]);
  });

  it('that is stopped keeps what was said, and nobody else is served meanwhile', async () => {
    const { turns, chat } = scriptedTurns();
    chat.script = saysHalf;
    const turn = await turns.ask(question('Why?'), meta());
    await turn.follow().next();
    await expect(turns.ask(question('And?', { conversationId: turn.conversationId }), meta())).rejects.toThrow(
      'turn_in_progress',
    );
    expect(await turns.stop(PARTICIPANTS, turn.conversationId, undefined, meta())).toBe(true);
    expect((await turn.finished).answer).toMatchObject({ status: 'stopped', parts: [{ text: 'Half an ' }] });
    chat.script = says('Because.');
    expect(
      (await (await turns.ask(question('And?', { conversationId: turn.conversationId }), meta())).finished).answer
        .status,
    ).toBe('complete');
  });
});

describe('an answer that the log does not take', () => {
  const whileDown = async () => {
    const set = scriptedTurns();
    const append = set.log.append.bind(set.log);
    let isDown = true;
    jest.spyOn(set.log, 'append').mockImplementation(async (stream, events, expected) => {
      if (isDown && events.some(({ type }) => type === 'AssistantMessageAdded')) throw new Unavailable('log', 'away');
      return append(stream, events, expected);
    });
    const command = meta();
    const turn = await set.turns.ask(question('Why?'), command);
    const outcome: unknown = await turn.finished.catch((error: unknown) => error);
    return { ...set, command, outcome, comeBack: () => (isDown = false) };
  };

  it('is recorded when it is back; whoever asked hears that it is not known by then, and a repeat finds it', async () => {
    const { turns, types, outcome, command, comeBack, chat } = await whileDown();
    expect(outcome).toMatchObject({ name: 'Unavailable', outcome: 'unknown' });
    expect(types()).toEqual(['ConversationStarted', 'UserMessageAdded']);
    comeBack();
    const again = async () => (await turns.ask(question('Why?'), command)).finished.catch(() => undefined);
    await until(async () => (await again())?.answer.status === 'complete', 'the answer');
    expect([types(), chat.requests.length]).toEqual([
      ['ConversationStarted', 'UserMessageAdded', 'AssistantMessageAdded'],
      1,
    ]);
  });
});

describe('a repeated question', () => {
  it('joins its turn while that runs, and finds it finished after', async () => {
    const { turns, chat, process, types } = scriptedTurns();
    const { held, release } = waiting();
    chat.script = async function* (request) {
      await held;
      yield* says('Yes.')(request);
    };
    const command = meta();
    const first = await turns.ask(question('Why?'), command);
    expect(await turns.ask(question('Why?'), command)).toBe(first);
    release();
    const { answer } = await first.finished;
    for (const again of [turns, process()])
      expect((await (await again.ask(question('Why?'), command)).finished).answer).toEqual(answer);
    expect(types()).toHaveLength(3);
  });
});

describe('after the death of its process', () => {
  const dieWhileAnswering = async () => {
    const set = scriptedTurns();
    set.chat.script = saysHalf;
    const command = meta();
    const turn = await set.turns.ask(question('Why?'), command);
    set.chat.script = says('Because.');
    return { ...set, command, conversationId: turn.conversationId };
  };

  it('a turn is answered by its repeat, once its claim has run out', async () => {
    const { process, clock, command, types } = await dieWhileAnswering();
    await expect(process().ask(question('Why?'), command)).rejects.toThrow('turn_in_progress');
    clock.advance(10_001);
    expect((await (await process().ask(question('Why?'), command)).finished).answer).toMatchObject({
      status: 'complete',
      parts: [{ text: 'Because.' }],
    });
    expect(types()).toEqual(['ConversationStarted', 'UserMessageAdded', 'AssistantMessageAdded']);
  });

  it('a turn is recorded as failed by the next question', async () => {
    const { process, clock, conversationId, types } = await dieWhileAnswering();
    clock.advance(10_001);
    await (
      await process().ask(question('Again?', { conversationId }), meta())
    ).finished;
    expect(types()).toEqual([
      'ConversationStarted',
      'UserMessageAdded',
      'AssistantMessageAdded',
      'UserMessageAdded',
      'AssistantMessageAdded',
    ]);
  });

  it('a turn is recorded as failed, once, as soon as its claim has run out, where nobody comes back to it', async () => {
    const { process, clock, conversationId, types, history, command } = await dieWhileAnswering();
    clock.advance(9_999);
    const watchers = [process(), process()];
    const watch = () => Promise.all(watchers.map((watcher) => watcher.closeAbandonedTurns()));
    await watch();
    expect(types()).toHaveLength(2);
    clock.advance(2);
    await watch();
    await watch();
    expect(types()).toEqual(['ConversationStarted', 'UserMessageAdded', 'AssistantMessageAdded']);
    expect((await history.answer(conversationId, deriveId(command.commandId, 'answer')))?.data).toMatchObject({
      status: 'failed',
      errorCode: 'unavailable',
    });
    await (
      await process().ask(question('Again?', { conversationId }), meta())
    ).finished;
  });

  it("a stranger's question changes nothing", async () => {
    const { process, clock, conversationId, types } = await dieWhileAnswering();
    clock.advance(10_001);
    await expect(process().ask(question('Mine?', { conversationId, userId: ids.next() }), meta())).rejects.toThrow(
      'not_found',
    );
    expect(types()).toEqual(['ConversationStarted', 'UserMessageAdded']);
  });
});
