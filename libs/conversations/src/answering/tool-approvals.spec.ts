import { pay, respond, tool, weather } from '../../../../test/fixtures/scripted-tools';
import {
  calls,
  endTurns,
  ids,
  inTurn,
  meta,
  PARTICIPANTS,
  question,
  says,
  scriptedTurns,
} from '../../../../test/fixtures/scripted-turns';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { until } from '../../../../test/fixtures/until';

afterEach(endTurns);

describe('a call that must be approved', () => {
  const asked = async () => {
    const set = scriptedTurns();
    const [rain, paid] = [weather(), pay()];
    set.tools.push(rain, paid);
    set.chat.script = inTurn(
      calls('Shall I? ', ['weather', {}], ['pay', { amount: 5 }], ['pay', { amount: 7 }]),
      says('Done.'),
    );
    const command = meta();
    const turn = await set.turns.ask(question('Pay?'), command);
    const first = await turn.finished;
    return { ...set, rain, paid, turn, first, command };
  };

  it('is waited for, also after a restart, and by the repeat of its question; the rest has run', async () => {
    const { first, rain, paid, process, turn, command, clock, chat } = await asked();
    expect(first.answer).toMatchObject({
      status: 'waiting',
      finishReason: 'tool-calls',
      usage: { totalTokens: 5 },
      parts: [
        { text: 'Shall I? ' },
        { state: 'output-available' },
        { state: 'approval-requested', input: { amount: 5 } },
        { state: 'approval-requested', input: { amount: 7 } },
      ],
    });
    expect([rain.inputs.length, paid.inputs.length]).toEqual([1, 0]);
    clock.advance(1_000_000);
    const other = process();
    await other.closeAbandonedTurns();
    for (const again of [
      await other.resume(PARTICIPANTS, turn.conversationId, undefined, meta()),
      await other.ask(question('Pay?'), command),
    ])
      expect((await again?.finished)?.answer).toMatchObject({ status: 'waiting', parts: first.answer.parts });
    await expect(other.ask(question('And?', { conversationId: turn.conversationId }), meta())).rejects.toThrow(
      'turn_in_progress',
    );
    expect(chat.requests).toHaveLength(1);
  });

  it('is run when it was approved, in any process, and not where it was denied; then the answer goes on', async () => {
    const { process, turn, paid, chat, types } = await asked();
    const [one, two] = [process(), process()];
    expect(await respond(one, turn, 'call_2', false)).toBe('waiting');
    await expect(respond(two, turn, 'call_2', true)).rejects.toThrow('conflict');
    await expect(respond(two, turn, 'call_0', true)).rejects.toThrow('conflict');
    const unknown = (callId: string) => two.checkCall(PARTICIPANTS, turn.conversationId, turn.answerId, callId);
    await expect(unknown('call_9')).rejects.toMatchObject({ code: 'not_found', facts: { kind: 'toolCall' } });
    await expect(unknown('call_0')).resolves.toBeUndefined();
    const command = meta();
    expect(await respond(two, turn, 'call_1', true, command)).toBe('streaming');
    const { answer } = await (await one.resume(PARTICIPANTS, turn.conversationId, turn.answerId, meta())).finished;
    expect(await respond(one, turn, 'call_1', true, command)).toBe('streaming');
    await expect(respond(one, turn, 'call_1', true)).rejects.toThrow('conflict');
    expect(answer).toMatchObject({ status: 'complete', usage: { totalTokens: 10 } });
    expect(answer.parts.slice(2)).toMatchObject([
      { state: 'output-available', approval: { approved: true }, output: 'Paid.' },
      { state: 'output-denied', approval: { approved: false } },
      { type: 'step-start' },
      { text: 'Done.' },
    ]);
    expect(paid.inputs).toEqual([{ amount: 5 }]);
    expect(chat.requests[1]?.messages.at(-1)).toMatchObject({
      content: [{ output: 'Rain.' }, { output: 'Paid.' }, { isError: true, output: 'The user denied this call.' }],
    });
    expect(types().filter((type) => type === 'AssistantMessageAdded')).toHaveLength(1);
  });

  it('has one winner of many answers at once', async () => {
    const { process, turn, paid } = await asked();
    await respond(process(), turn, 'call_2', false);
    const many = await Promise.allSettled(
      [true, false, true, true].map((approved) => respond(process(), turn, 'call_1', approved)),
    );
    expect(many.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await until(async () =>
      (await process().resume(PARTICIPANTS, turn.conversationId, turn.answerId, meta())).finished.then(
        ({ answer }) => answer.status === 'complete',
      ),
    );
    expect(paid.inputs.length).toBeLessThanOrEqual(1);
  });

  it('is unknown to others', async () => {
    const { process, turn } = await asked();
    const { agent } = question('');
    const foreign = { participants: { ...PARTICIPANTS, userId: ids.next() }, agent, requester: { userId: ids.next() } };
    await expect(
      process().respond(
        {
          ...foreign,
          ...turn,
          conversationId: turn.conversationId,
          answerId: turn.answerId,
          callId: 'call_1',
          approved: true,
        },
        meta(),
      ),
    ).rejects.toThrow('not_found');
  });

  it('goes when its answer is stopped', async () => {
    const { process, turn, paid } = await asked();
    expect(await process().stop(PARTICIPANTS, turn.conversationId, undefined, meta())).toBe(true);
    expect(await process().stop(PARTICIPANTS, turn.conversationId, undefined, meta())).toBe(false);
    await expect(respond(process(), turn, 'call_1', true)).rejects.toThrow('conflict');
    const { answer } = await (
      await process().resume(PARTICIPANTS, turn.conversationId, turn.answerId, meta())
    ).finished;
    expect(answer).toMatchObject({ status: 'stopped', usage: { totalTokens: 5 } });
    expect(answer.parts.at(-1)).toMatchObject({ state: 'output-denied' });
    expect(paid.inputs).toEqual([]);
  });

  it.each(['before', 'behind'])(
    'is not waited for where its answer is stopped just %s that is recorded',
    async (when) => {
      const set = scriptedTurns();
      set.tools.push(pay());
      set.chat.script = calls('', ['pay', {}]);
      const stops: Promise<boolean>[] = [];
      const append = jest.spyOn(set.log, 'append').mockImplementation(async (...given) => {
        const waits = given[1].some(({ type }) => type === 'ToolApprovalRequested');
        const stop = () => stops.push(set.turns.stop(PARTICIPANTS, turn.conversationId, turn.answerId, meta()));
        if (waits && when === 'before') stop();
        await stops[0];
        const done = await MemoryLog.prototype.append.apply(set.log, given);
        if (waits && when === 'behind') stop();
        return done;
      });
      const turn = await set.turns.ask(question('Pay?'), meta());
      await turn.finished;
      append.mockRestore();
      expect(await Promise.all(stops)).toEqual([true]);
      await until(() => set.types().at(-1) === 'AssistantMessageAdded');
      const again = await set.turns.resume(PARTICIPANTS, turn.conversationId, turn.answerId, meta());
      expect((await again.finished).answer.status).toBe('stopped');
    },
  );

  it('is said in what an answer is made from that is stopped while it waits', async () => {
    const set = scriptedTurns();
    set.tools.push(pay());
    set.chat.script = calls('', ['pay', {}]);
    const { agent } = question('');
    const turn = await set.turns.ask(
      question('Pay?', { agent: { ...agent, revisions: { agent: 7, prompt: 3 } } }),
      meta(),
    );
    await turn.finished;
    await set.process().stop(PARTICIPANTS, turn.conversationId, undefined, meta());
    const made = (await set.history.answer(turn.conversationId, turn.answerId))?.data.provenance;
    expect(made).toMatchObject({
      agentRevision: 7,
      prompt: { revision: 3 },
      invocations: [{ usage: { totalTokens: 5 } }],
      memoryState: 'off',
    });
    expect(made).not.toHaveProperty('request');
  });

  it("whose answer is recorded but not read again is nobody's until it is closed", async () => {
    const { turns, turn, process, log, paid, clock } = await asked();
    await respond(process(), turn, 'call_2', false);
    const other = process();
    const append = jest.spyOn(log, 'append');
    const read = jest.spyOn(log, 'readStream').mockImplementation((...given) => {
      if (append.mock.calls.length > 0) throw new Error('it is away');
      return MemoryLog.prototype.readStream.apply(log, given);
    });
    await expect(respond(other, turn, 'call_1', true)).rejects.toThrow('it is away');
    read.mockRestore();
    append.mockRestore();
    clock.advance(10_001);
    await other.closeAbandonedTurns();
    expect(await turns.saidMeanwhile(turn.conversationId)).toEqual(new Map());
    const { answer } = await (await turns.resume(PARTICIPANTS, turn.conversationId, turn.answerId, meta())).finished;
    expect(answer.status).toBe('failed');
    expect(paid.inputs).toEqual([]);
  });

  it('whose process dies after it was approved is not run again', async () => {
    const { turns, process, chat, clock, tools } = scriptedTurns();
    const used = tool('pay', () => new Promise(() => undefined), 'always');
    tools.push(used);
    chat.script = calls('', ['pay', {}]);
    const turn = await turns.ask(question('Pay?'), meta());
    await turn.finished;
    const command = meta();
    await respond(process(), turn, 'call_0', true, command);
    await until(() => used.inputs.length === 1);
    clock.advance(10_001);
    expect(await respond(process(), turn, 'call_0', true, command)).toBe('streaming');
    await process().closeAbandonedTurns();
    const { answer } = await (
      await process().resume(PARTICIPANTS, turn.conversationId, turn.answerId, meta())
    ).finished;
    expect(answer).toMatchObject({
      status: 'failed',
      usage: { totalTokens: 5 },
      parts: [{ state: 'output-error', approval: { approved: true } }],
    });
    expect(used.inputs).toHaveLength(1);
  });
});
