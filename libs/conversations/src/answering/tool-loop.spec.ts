import { DomainError } from '@app/kernel';
import type { CallToMeter } from '@app/spending';
import { tool, weather } from '../../../../test/fixtures/scripted-tools';
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
  unmetered,
  waiting,
} from '../../../../test/fixtures/scripted-turns';
import { until } from '../../../../test/fixtures/until';
import type { RetrievedPassage } from './retriever';
import type { Turns } from './turns';

afterEach(endTurns);

const passage = (text: string): RetrievedPassage => {
  const chunk = { chunkId: ids.next(), text, start: 0, end: text.length };
  const document = { documentId: ids.next(), documentName: 'a.md', documentRevision: 3, mediaType: 'text/markdown' };
  return { ...document, ...chunk, headings: [], chunks: [chunk] };
};
describe('an answer that calls tools', () => {
  it('goes on with what they gave, call by call as parts, each step billed', async () => {
    const { turns, chat, tools } = scriptedTurns();
    tools.push(weather());
    chat.script = inTurn(
      calls('Let me look. ', ['weather', { city: 'Bonn' }], ['weather', { city: 'Ulm' }]),
      says('It rains.'),
    );
    const { answer } = await (await turns.ask(question('Weather?'), meta())).finished;
    expect(answer).toMatchObject({ status: 'complete', finishReason: 'stop', usage: { totalTokens: 10 } });
    expect(answer.parts).toMatchObject([
      { type: 'text', text: 'Let me look. ' },
      { type: 'tool', toolName: 'weather', toolCallId: 'call_0', state: 'output-available', output: 'Rain.' },
      { type: 'tool', toolCallId: 'call_1', input: { city: 'Ulm' }, state: 'output-available' },
      { type: 'step-start' },
      { type: 'text', text: 'It rains.' },
    ]);
    expect(chat.requests[0]?.tools).toMatchObject([{ name: 'weather', inputSchema: { type: 'object' } }]);
    expect(chat.requests[1]?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ text: 'Let me look. ' }, { callId: 'call_0' }, { callId: 'call_1' }] },
      { role: 'tool', content: [{ callId: 'call_0', output: 'Rain.' }, { callId: 'call_1' }] },
    ]);
  });

  it('ends after eight steps', async () => {
    const { turns, chat, tools } = scriptedTurns();
    const used = weather();
    tools.push(used);
    chat.script = calls('', ['weather', {}]);
    const { answer } = await (await turns.ask(question('Weather?'), meta())).finished;
    expect(answer).toMatchObject({ status: 'complete', finishReason: 'tool-calls' });
    expect([chat.requests.length, used.inputs.length]).toEqual([8, 8]);
    const callIds = answer.parts.flatMap((part) => (part.type === 'tool' ? [part.toolCallId] : []));
    expect(new Set(callIds).size).toBe(8);
  });

  it('calls none once who asked may not use the Agent any more, and says so to the model', async () => {
    const { turns, chat, tools, rights } = scriptedTurns();
    const used = weather();
    tools.push(used);
    const first = calls('', ['weather', {}]);
    const loses = async function* (request: Parameters<typeof first>[0]) {
      rights.mayUse = false;
      yield* first(request);
    };
    chat.script = inTurn(loses, says('Sorry.'));
    const { answer } = await (await turns.ask(question('Weather?'), meta())).finished;
    expect(used.inputs).toEqual([]);
    expect(answer).toMatchObject({ status: 'complete' });
    expect(answer.parts[0]).toMatchObject({
      state: 'output-error',
      errorText: expect.stringContaining('can no longer use this assistant') as string,
    });
  });

  it('calls none once it is stopped, also while the rights to call it are looked up', async () => {
    const { turns, chat, tools, rights } = scriptedTurns();
    const used = weather();
    tools.push(used);
    const looked = Promise.withResolvers<boolean>();
    let isAsked = false;
    const first = calls('', ['weather', {}]);
    chat.script = async function* (request) {
      Object.defineProperty(rights, 'mayUse', {
        get: () => {
          isAsked = true;
          return looked.promise;
        },
      });
      yield* first(request);
    };
    const turn = await turns.ask(question('Weather?'), meta());
    await until(() => isAsked);
    expect(await turns.stop(PARTICIPANTS, turn.conversationId, turn.answerId, meta())).toBe(true);
    looked.resolve(true);
    expect((await turn.finished).answer.status).toBe('stopped');
    expect(used.inputs).toEqual([]);
  });

  it('is not begun where who asked may not use the Agent any more: no model is called', async () => {
    const { turns, chat, rights } = scriptedTurns();
    rights.mayUse = false;
    const { answer } = await (await turns.ask(question('Weather?'), meta())).finished;
    expect(answer).toMatchObject({ status: 'failed', errorCode: 'forbidden', parts: [] });
    expect(chat.requests).toEqual([]);
  });

  it.each([
    ['that there are not', [['nothing', {}]], 'There is no tool nothing. You have: weather.'],
    ['with arguments that are no JSON', [['weather', '{"city":']], 'The arguments must be a JSON object'],
    ['with a list', [['weather', []]], 'The arguments must be a JSON object'],
    ['with endless arguments', [['weather', { city: 'x'.repeat(70_000) }]], 'The arguments must be a JSON object'],
    [
      'with bottomless arguments',
      [['weather', JSON.parse('{"a":'.repeat(5_000) + '1' + '}'.repeat(5_000))]],
      'must be a JSON object',
    ],
    ['that fail', [['fails', {}]], 'The tool failed.'],
    ['that refuse', [['refuses', {}]], 'Not today.'],
    ['by odd names', [['a b/../c', {}]], 'There is no tool a_b____c.'],
  ] as const)('tells the model of calls %s', async (_, called, said) => {
    const { turns, chat, tools } = scriptedTurns();
    tools.push(weather());
    if (called[0][0] === 'fails')
      tools.push(
        tool('fails', () => {
          throw new Error('secret');
        }),
      );
    if (called[0][0] === 'refuses') tools.push(tool('refuses', () => ({ output: 'Not today.', isError: true })));
    chat.script = inTurn(calls('', ...called), says('Sorry.'));
    const { answer } = await (await turns.ask(question('Weather?'), meta())).finished;
    expect(answer).toMatchObject({ status: 'complete' });
    expect(answer.parts[0]).toMatchObject({
      state: 'output-error',
      errorText: expect.stringContaining(said) as string,
    });
    expect(chat.requests[1]?.messages.at(-1)).toMatchObject({
      role: 'tool',
      content: [{ isError: true, output: expect.stringContaining(said) as string }],
    });
    expect(JSON.stringify(answer)).not.toContain('secret');
  });

  it('hears no more than so much of all tools, and runs no more than so many at once', async () => {
    const { turns, chat, tools } = scriptedTurns();
    const long = tool('long', () => ({ output: 'x'.repeat(150_000) }));
    tools.push(long);
    chat.script = inTurn(calls('', ...Array.from({ length: 20 }, () => ['long', {}] as const)), says('Enough.'));
    const { answer } = await (await turns.ask(question('Go?'), meta())).finished;
    const said = answer.parts.reduce((sum, part) => sum + (part.type === 'tool' ? (part.output ?? '').length : 0), 0);
    expect([long.inputs.length, said > 199_000, said < 200_100]).toEqual([16, true, true]);
    expect(answer.parts.at(-3)).toMatchObject({
      state: 'output-error',
      errorText: 'You can make at most 16 calls at once.',
    });
  });

  it('cites what they found beside what was found before, each once and by its number', async () => {
    const [before, found] = [passage('Zebras sleep standing up.'), passage('Lions sleep lying down.')];
    const { turns, chat, tools } = scriptedTurns([before]);
    tools.push(tool('search', () => ({ output: 'Two passages.', passages: [found, before] })));
    chat.script = inTurn(calls('They stand [1]. ', ['search', {}]), says('They lie [2], they stand [1].'));
    const { answer } = await (await turns.ask(question('How do animals sleep?'), meta())).finished;
    expect(answer.parts).toMatchObject([
      { text: 'They stand [1]. ' },
      { type: 'tool' },
      { type: 'source-document', sourceId: before.chunkId },
      { type: 'step-start' },
      { text: 'They lie [2], they stand [1].' },
      { type: 'source-document', sourceId: found.chunkId },
    ]);
    expect(chat.requests[1]?.sources.map(({ number, text }) => [number, text])).toEqual([
      [1, before.text],
      [2, found.text],
    ]);
    expect(chat.requests[1]?.messages.at(-1)).toMatchObject({
      content: [{ output: 'Two passages.\n[Cite this as [2], [1].]' }],
    });
  });

  it('is held within the limits at every step', async () => {
    const begun: CallToMeter[] = [];
    const begin = async (call: CallToMeter) => {
      begun.push(call);
      if (begun.length === 2) throw new DomainError('usage_limit_exceeded');
      return unmetered.begin(call);
    };
    const { turns, chat, tools } = scriptedTurns([], { begin });
    tools.push(weather());
    chat.script = calls('Let me look.', ['weather', {}]);
    const { answer } = await (await turns.ask(question('Weather?'), meta())).finished;
    expect(answer).toMatchObject({ status: 'failed', errorCode: 'usage_limit_exceeded', usage: { totalTokens: 5 } });
    expect(answer.parts).toMatchObject([
      { text: 'Let me look.' },
      { state: 'output-available' },
      { type: 'step-start' },
    ]);
    expect(chat.requests).toHaveLength(1);
  });

  it('is stopped in the middle of one', async () => {
    const { turns, chat, tools } = scriptedTurns();
    tools.push(tool('slow', () => new Promise(() => undefined)));
    chat.script = calls('', ['slow', {}]);
    const turn = await turns.ask(question('Go?'), meta());
    await until(() => turn.parts.some(({ type }) => type === 'tool'));
    expect(await turns.stop(PARTICIPANTS, turn.conversationId, undefined, meta())).toBe(true);
    expect((await turn.finished).answer).toMatchObject({
      status: 'stopped',
      parts: [{ state: 'output-error', errorText: expect.stringContaining('interrupted') as string }],
    });
  });
});

describe('after the death of its process in a tool', () => {
  it('an answer ends as failed with what was saved, and its tool is never run again, by a repeat neither', async () => {
    const { turns, process, chat, clock, tools, types } = scriptedTurns();
    const { held } = waiting();
    const used = tool('pay', async () => {
      await held;
      return { output: '' };
    });
    tools.push(used);
    chat.script = calls('One moment. ', ['pay', { amount: 5 }]);
    const command = meta();
    const turn = await turns.ask(question('Pay?'), command);
    await until(() => used.inputs.length === 1);
    // What runs stands in the log before.
    expect(types()).toContain('AssistantMessageContinued');
    clock.advance(10_001);
    const others = [process(), process()];
    const repeated = await (others[0] as Turns).ask(question('Pay?'), command);
    await Promise.all(others.map((other) => other.closeAbandonedTurns()));
    expect((await repeated.finished).answer).toMatchObject({
      status: 'failed',
      parts: [{ text: 'One moment. ' }, { type: 'tool', state: 'output-error' }],
    });
    expect(types(turn.conversationId).filter((type) => type === 'AssistantMessageAdded')).toHaveLength(1);
    expect([used.inputs.length, chat.requests.length]).toEqual([1, 1]);
  });

  it('a process that was thought dead runs nothing more', async () => {
    const { turns, process, chat, clock, tools } = scriptedTurns();
    const used = weather();
    tools.push(used);
    const { held, release } = waiting();
    chat.script = async function* (request) {
      yield { type: 'text', text: 'Well. ' };
      await held;
      yield* calls('', ['weather', {}])(request);
    };
    const turn = await turns.ask(question('Weather?'), meta());
    clock.advance(10_001);
    await process().closeAbandonedTurns();
    release();
    await expect(turn.finished).rejects.toThrow('not_found');
    expect(used.inputs).toEqual([]);
  });
});
