import {
  endTurns,
  PARTICIPANTS,
  ids,
  meta,
  question,
  says,
  scriptedTurns,
  waiting,
} from '../../../../test/fixtures/scripted-turns';
import { until } from '../../../../test/fixtures/until';
import { textOf } from '../conversation/message-parts';
import type { Turn } from './turn';

afterEach(endTurns);

describe('a streamed answer', () => {
  const continued = ({ types }: ReturnType<typeof scriptedTurns>) =>
    types().filter((type) => type === 'AssistantMessageContinued').length;
  const heard = async (turn: Turn): Promise<string> => {
    let text = '';
    for await (const parts of turn.follow()) text = textOf(parts);
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

  it('is followed in its own process, in another, and when it is finished', async () => {
    const { turns, process, turn, release } = await halfWay();
    const { conversationId, answerId } = turn;
    expect(await turns.resume(PARTICIPANTS, conversationId, undefined, meta())).toBe(turn);
    const elsewhere = await process().resume(PARTICIPANTS, conversationId, answerId, meta());
    const first = await elsewhere.follow().next();
    expect(first.value).toEqual([{ type: 'text', text: 'Half an ' }]);
    release();
    expect(
      await Promise.all([
        elsewhere.finished,
        turn.finished,
        (await process().resume(PARTICIPANTS, conversationId, answerId, meta())).finished,
      ]),
    ).toMatchObject(Array(3).fill({ answer: { parts: [{ text: 'Half an answer.' }] } }));
    expect(await turns.resume(PARTICIPANTS, conversationId, undefined, meta())).toBeUndefined();
    await expect(turns.resume(PARTICIPANTS, conversationId, ids.next(), meta())).rejects.toThrow('not_found');
  });

  it('whose process died is kept as far as it was saved, by the next question or by who follows it, and is in hand of nobody', async () => {
    const { process, clock, store, turn, types } = await halfWay();
    const following = await process().resume(PARTICIPANTS, turn.conversationId, turn.answerId, meta());
    clock.advance(10_001);
    expect(await heard(following)).toBe('Half an ');
    expect((await following.finished).answer).toMatchObject({
      status: 'failed',
      errorCode: 'unavailable',
      parts: [{ type: 'text', text: 'Half an ' }],
    });
    expect(types().filter((type) => type === 'AssistantMessageAdded')).toHaveLength(1);
    expect(await store.list('claim/turn/', { limit: 10 })).toEqual([]);
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
