import { endTurns, ids, meta, question, says, scriptedTurns, waiting } from '../../../../test/fixtures/scripted-turns';
import { until } from '../../../../test/fixtures/until';
import type { Turn } from './turn';

afterEach(endTurns);

describe('a streamed answer', () => {
  const continued = ({ types }: ReturnType<typeof scriptedTurns>) =>
    types().filter((type) => type === 'AssistantMessageContinued').length;
  const textOf = async (turn: Turn): Promise<string> => {
    let text = '';
    for await (const event of turn.follow()) if (event.type === 'text') text += event.delta;
    return text;
  };

  /** A turn that has said and saved the first half of its answer. */
  const halfWay = async () => {
    const set = scriptedTurns();
    const { held, release } = waiting();
    set.chat.script = async function* (request) {
      yield { type: 'text', text: 'Half an ' };
      await held;
      yield* says('answer.')(request);
    };
    const command = meta();
    const turn = await set.turns.ask(question('Why?'), command);
    await until(() => continued(set) === 1);
    return { ...set, turn, release, command };
  };

  it('is saved while it is said, and whole at its end', async () => {
    const set = await halfWay();
    set.release();
    const { answer } = await set.turn.finished;
    expect(answer.parts).toMatchObject([{ text: 'Half an answer.' }]);
    expect(set.types().at(-1)).toBe('AssistantMessageAdded');
  });

  it('is not saved piece by piece for who waits for the whole', async () => {
    const { turns, chat, types } = scriptedTurns();
    const { held, release } = waiting();
    chat.script = async function* (request) {
      yield { type: 'text', text: 'Half an ' };
      await held;
      yield* says('answer.')(request);
    };
    const whole = await turns.ask(question('Why?', { stream: false }), meta());
    const streamed = await turns.ask(question('Why?'), meta());
    await until(() => types(streamed.conversationId).includes('AssistantMessageContinued'));
    release();
    await whole.finished;
    expect(types(whole.conversationId)).toEqual(['ConversationStarted', 'UserMessageAdded', 'AssistantMessageAdded']);
  });

  it('is followed in its own process, in another, and when it is finished', async () => {
    const { turns, process, turn, release } = await halfWay();
    const { conversationId, answerId } = turn;
    expect(await turns.resume(conversationId, undefined, meta())).toBe(turn);
    const elsewhere = await process().resume(conversationId, answerId, meta());
    const first = await elsewhere.follow().next();
    expect(first.value).toEqual({ type: 'text', delta: 'Half an ' });
    release();
    expect(
      await Promise.all([
        textOf(elsewhere),
        textOf(turn),
        textOf(await process().resume(conversationId, answerId, meta())),
      ]),
    ).toEqual(Array(3).fill('Half an answer.'));
    await expect(turns.resume(conversationId, undefined, meta())).rejects.toThrow('not_found');
    await expect(turns.resume(conversationId, ids.next(), meta())).rejects.toThrow('not_found');
  });

  it('whose process died is kept as far as it was saved, by the next question or by who follows it', async () => {
    const { process, clock, turn, types } = await halfWay();
    const following = await process().resume(turn.conversationId, turn.answerId, meta());
    clock.advance(10_001);
    expect(await textOf(following)).toBe('Half an ');
    expect((await following.finished).answer).toMatchObject({
      status: 'failed',
      errorCode: 'unavailable',
      parts: [{ type: 'text', text: 'Half an ' }],
    });
    expect(types().filter((type) => type === 'AssistantMessageAdded')).toHaveLength(1);
  });

  it('that is begun anew by a repeat leaves nothing of what was said before', async () => {
    const { process, clock, command, chat } = await halfWay();
    clock.advance(10_001);
    chat.script = says('Because.');
    expect((await (await process().ask(question('Why?'), command)).finished).answer.parts).toMatchObject([
      { text: 'Because.' },
    ]);
  });
});
