import { pay, respond } from '../../../../test/fixtures/scripted-tools';
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
} from '../../../../test/fixtures/scripted-turns';

afterEach(endTurns);

describe('an answer that waits, whose claim is not given back yet since the store of claims is slow', () => {
  const asked = async () => {
    const set = scriptedTurns();
    set.tools.push(pay());
    set.chat.script = inTurn(calls('', ['pay', {}]), says('Done.'));
    const write = set.store.write.bind(set.store);
    const back = () => (set.store.write = write);
    set.store.write = (key, value, options) =>
      value === null ? new Promise<boolean>(() => undefined) : write(key, value, options);
    const command = meta();
    const turn = await set.turns.ask(question('Pay?'), command);
    expect((await turn.finished).answer.status).toBe('waiting');
    return { ...set, turn, command, back };
  };

  it('is given to repeats of its question in any process', async () => {
    const { process, turns, command } = await asked();
    for (const again of [turns, process()])
      expect((await (await again.ask(question('Pay?'), command)).finished).answer.status).toBe('waiting');
  });

  it('goes on at once where it was made; in other processes whoever approves is to ask again, and is not told that the call is decided', async () => {
    const { process, turns, turn } = await asked();
    await expect(respond(process(), turn, 'call_0', true)).rejects.toMatchObject({
      name: 'Unavailable',
      outcome: 'none',
    });
    expect(await respond(turns, turn, 'call_0', true)).toBe('streaming');
  });

  it('is not said to be stopped by a process that could not stop it', async () => {
    const { process, turn, turns, back, types } = await asked();
    const stop = (by: typeof turns) => by.stop(PARTICIPANTS, turn.conversationId, turn.answerId, meta());
    await expect(stop(process())).rejects.toMatchObject({ name: 'Unavailable', outcome: 'none' });
    expect(types()).not.toContain('AssistantMessageAdded');
    expect(await stop(turns)).toBe(true);
    expect(types()).toContain('AssistantMessageAdded');
    back();
  });

  it('was approved, and stays so for a repeat while the answer goes on', async () => {
    const { turns, turn, back, chat } = await asked();
    back();
    chat.script = saysHalf;
    const command = meta();
    expect(await respond(turns, turn, 'call_0', true, command)).toBe('streaming');
    expect(await respond(turns, turn, 'call_0', true, command)).toBe('streaming');
    await expect(respond(turns, turn, 'call_0', true)).rejects.toMatchObject({ facts: { reason: 'call_decided' } });
  });
});
