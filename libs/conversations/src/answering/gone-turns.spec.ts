import { type CommandMeta, Decisions, Unavailable } from '@app/kernel';
import { pay, respond, tool, weather } from '../../../../test/fixtures/scripted-tools';
import {
  calls,
  endTurns,
  inTurn,
  meta,
  PARTICIPANTS,
  question,
  says,
  saysHalf,
  scriptedTurns,
  waiting,
} from '../../../../test/fixtures/scripted-turns';
import { until } from '../../../../test/fixtures/until';
import type { ConversationCommand } from '../conversation/conversation.commands';
import { conversationDecider } from '../conversation/conversation.decider';
import type { Turn } from './turn';

afterEach(endTurns);

const NOT_FOUND = { code: 'not_found' };

const setUp = () => {
  const here = scriptedTurns();
  const decisions = new Decisions(here.log, here.codec);
  const decide = (conversationId: string, command: ConversationCommand) =>
    decisions.transact(conversationDecider, conversationId, command, meta());
  const remove = (turn: Turn, what: 'its conversation' | 'its answer') =>
    decide(
      turn.conversationId,
      what === 'its answer'
        ? { type: 'DeleteMessage', ...PARTICIPANTS, messageId: turn.answerId }
        : { type: 'Delete', ...PARTICIPANTS },
    );
  /** Whether the model is left. */
  const isLeft = () => here.chat.requests.at(-1)?.signal.aborted === true;
  return { ...here, decide, remove, isLeft };
};

describe.each(['its conversation', 'its answer'] as const)('a question, once %s was deleted,', (what) => {
  it.each(['that was answered', 'that was being answered'])('and %s, is answered by no repeat', async (how) => {
    const { turns, chat, remove } = setUp();
    chat.script = how === 'that was answered' ? says('A secret.') : saysHalf;
    const command = meta();
    const turn = await turns.ask(question('What?'), command);
    if (how === 'that was answered') await turn.finished;
    else await until(() => chat.requests.length === 1);
    const stop = await turns.stopper(turn.conversationId);
    await remove(turn, what);
    await stop();
    await turn.finished.catch(() => undefined);
    await expect(turns.ask(question('What?'), command)).rejects.toMatchObject(NOT_FOUND);
    expect(chat.requests).toHaveLength(1);
  });
});

describe('an answer that is deleted', () => {
  it('is stopped with its conversation, and those of other conversations go on', async () => {
    const { turns, chat, remove } = setUp();
    const { held, release } = waiting();
    chat.script = inTurn(async function* (request) {
      await held;
      yield* says('It goes on.')(request);
    }, saysHalf);
    const other = await turns.ask(question('What?'), meta());
    await until(() => chat.requests.length === 1);
    const turn = await turns.ask(question('And?'), meta());
    await until(() => chat.requests.length === 2);
    const stop = await turns.stopper(turn.conversationId);
    await remove(turn, 'its conversation');
    await stop();
    await expect(turn.finished).rejects.toMatchObject(NOT_FOUND);
    expect(chat.requests.map(({ signal }) => signal.aborted)).toEqual([false, true]);
    release();
    expect((await other.finished).answer).toMatchObject({ status: 'complete', parts: [{ text: 'It goes on.' }] });
  });

  it.each(['this process', 'another process'])(
    'is stopped by %s, with its conversation, where it began behind the look for such answers',
    async (where) => {
      const { turns, process, chat, remove, isLeft, types } = setUp();
      const deleting = where === 'this process' ? turns : process();
      const { conversationId } = await (await turns.ask(question('What?'), meta())).finished;
      const stop = await deleting.stopper(conversationId);
      chat.script = saysHalf;
      const turn = await turns.ask(question('And?', { conversationId }), meta());
      // It says nothing more: no save finds it gone.
      await until(() => types(conversationId).at(-1) === 'AssistantMessageContinued');
      await remove(turn, 'its conversation');
      await stop();
      await expect(turn.finished).rejects.toMatchObject(NOT_FOUND);
      expect(isLeft()).toBe(true);
    },
  );

  it('is stopped by whoever deletes it, where it began behind that look, and others go on', async () => {
    const { turns, chat, remove, isLeft } = setUp();
    const first = await (await turns.ask(question('What?'), meta())).finished;
    const stop = await turns.stopper(first.conversationId, first.parentId);
    chat.script = saysHalf;
    const again = (regenerates: string): Partial<ReturnType<typeof question>> => ({
      conversationId: first.conversationId,
      regenerates,
      parts: [],
    });
    const turn = await turns.ask(question('', again(first.parentId)), meta());
    const beside = await turns.ask(question('Else?', { conversationId: first.conversationId, parentId: null }), meta());
    await until(() => chat.requests.length === 3);
    await remove(turn, 'its answer');
    await stop();
    await expect(turn.finished).rejects.toMatchObject(NOT_FOUND);
    expect(isLeft()).toBe(false);
    expect(await turns.stop(PARTICIPANTS, beside.conversationId, beside.answerId, meta())).toBe(true);
  });

  it('is stopped by its next words at the latest', async () => {
    const { turns, chat, remove, isLeft } = setUp();
    const { held, release } = waiting();
    chat.script = async function* () {
      await held;
      yield* saysHalf();
    };
    const turn = await turns.ask(question('What?'), meta());
    await until(() => chat.requests.length === 1);
    await remove(turn, 'its answer');
    release();
    await expect(turn.finished).rejects.toMatchObject(NOT_FOUND);
    expect(isLeft()).toBe(true);
  });
});

it('an answer goes on whose words the log took, and could not say so', async () => {
  const { turns, chat, tools, log } = setUp();
  tools.push(weather());
  chat.script = inTurn(calls('Let me look. ', ['weather', {}]), says('Rain.'));
  const append = log.append.bind(log);
  let lost = 0;
  log.append = async (stream, events, expected) => {
    const receipt = await append(stream, events, expected);
    if (events[0]?.type !== 'AssistantMessageContinued' || lost > 0) return receipt;
    lost += 1;
    throw new Unavailable('log', 'no answer', 'unknown');
  };
  const { answer } = await (await turns.ask(question('Weather?'), meta())).finished;
  expect([lost, answer.status]).toEqual([1, 'complete']);
});

describe('what the log took, and could not say so,', () => {
  /** Loses the answer of the log to one append. */
  const lose = (log: ReturnType<typeof setUp>['log'], type: string) => {
    const append = log.append.bind(log);
    let lost = 0;
    log.append = async (stream, events, expected) => {
      const receipt = await append(stream, events, expected);
      if (lost > 0 || !events.some((event) => event.type === type)) return receipt;
      lost += 1;
      throw new Unavailable('log', 'no answer', 'unknown');
    };
  };

  it('is closed as a question that nobody answers', async () => {
    const { turns, log, clock, types } = setUp();
    const { conversationId } = await (await turns.ask(question('What?'), meta())).finished;
    lose(log, 'UserMessageAdded');
    await expect(turns.ask(question('And?', { conversationId }), meta())).rejects.toMatchObject({ outcome: 'unknown' });
    clock.advance(60_000);
    await turns.closeAbandonedTurns();
    expect(types(conversationId).filter((type) => type === 'AssistantMessageAdded')).toHaveLength(2);
  });

  it('is closed as an answer whose call was approved, and goes on nowhere', async () => {
    const { turns, chat, tools, log, clock, types } = setUp();
    tools.push(pay());
    chat.script = inTurn(calls('Shall I? ', ['pay', {}]), says('Done.'));
    const turn = await turns.ask(question('Pay?'), meta());
    await turn.finished;
    lose(log, 'ToolApprovalResponded');
    await expect(respond(turns, turn, 'call_0', true)).rejects.toMatchObject({ outcome: 'unknown' });
    clock.advance(60_000);
    await turns.closeAbandonedTurns();
    expect(types(turn.conversationId).at(-1)).toBe('AssistantMessageAdded');
  });
});

it('an answer whose process died behind an approval is closed by the repeat of that', async () => {
  const { turns, chat, tools, process, clock, types } = setUp();
  const slow = tool('pay', () => new Promise(() => undefined), 'always');
  tools.push(slow);
  chat.script = inTurn(calls('Shall I? ', ['pay', {}]), says('Done.'));
  const turn = await turns.ask(question('Pay?'), meta());
  await turn.finished;
  const command: CommandMeta = meta();
  await respond(turns, turn, 'call_0', true, command);
  await until(() => slow.inputs.length === 1);
  // As if that process had died.
  clock.advance(60_000);
  const other = process();
  expect(await respond(other, turn, 'call_0', true, command)).toBe('streaming');
  expect(types(turn.conversationId).at(-1)).toBe('AssistantMessageAdded');
  expect(
    (await other.resume(PARTICIPANTS, turn.conversationId, turn.answerId, meta()).then((t) => t.finished)).answer,
  ).toMatchObject({ status: 'failed', parts: [{ text: 'Shall I? ' }, { state: 'output-error' }] });
});
