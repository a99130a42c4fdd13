import { readUIMessageStream, type UIMessageChunk } from 'ai';
import fc from 'fast-check';
import type { MessagePart, ToolPart } from '@app/conversations';
import { parsePlace, placeText, type StreamPlace } from './stream-place';
import { chunksOf, type StreamedMessage } from './ui-message-chunks';

const answerId = '01900000-0000-7000-8000-00000000000a';
const conversationId = '01900000-0000-7000-8000-00000000000c';
const end = (status: 'complete' | 'stopped' | 'failed' | 'waiting', parts: readonly MessagePart[]) => ({
  answerId,
  parts,
  status,
  finishReason: status === 'complete' ? ('stop' as const) : ('other' as const),
  model: 'm',
  usage: null,
});
const message = (parts: readonly MessagePart[], status?: Parameters<typeof end>[0]): StreamedMessage => ({
  answerId,
  conversationId,
  parts,
  ...(status === undefined ? {} : { end: end(status, parts) }),
});
const text = (said: string): MessagePart => ({ type: 'text', text: said });
const reasoning = (said: string): MessagePart => ({ type: 'reasoning', text: said });
const call = (toolCallId: string, fields: Partial<ToolPart> = {}): ToolPart => ({
  type: 'tool',
  toolName: 'weather',
  toolCallId,
  state: 'input-available',
  input: { city: 'Bonn' },
  ...fields,
});
const output = { state: 'output-available', output: 'Rain.' } as const;
const source: MessagePart = {
  type: 'source-document',
  sourceId: 's',
  documentId: answerId,
  documentRevision: 1,
  chunkHash: '0',
  title: 'a.md',
  mediaType: 'text/markdown',
  position: { start: 0, end: 1 },
  quote: 'q',
};

/** An answer from its beginning to its end: two calls at once, one of which is slower, and one that must be approved. */
const step = { type: 'step-start' } as const;
const asks = { approval: {} };
const STAGES: readonly StreamedMessage[] = [
  message([]),
  message([reasoning('Hm')]),
  message([reasoning('Hmm'), text('Let me ')]),
  message([reasoning('Hmm'), text('Let me look.'), call('1')]),
  message([reasoning('Hmm'), text('Let me look.'), call('1'), call('2')]),
  message([reasoning('Hmm'), text('Let me look.'), call('1'), call('2', output)]),
  message([reasoning('Hmm'), text('Let me look.'), call('1', output), call('2', output), step]),
];
const first = STAGES.at(-1)?.parts ?? [];
const requested = { state: 'approval-requested', ...asks } as const;
const WAITS: readonly StreamedMessage[] = [
  message([...first, call('3', requested), call('4', requested)]),
  message([...first, call('3', requested), call('4', requested)], 'waiting'),
];
const answered = (approved: boolean) => ({ state: 'approval-responded', approval: { approved } }) as const;
const given = { ...output, approval: { approved: true } };
const denied = { state: 'output-denied', approval: { approved: false } } as const;
const REST: readonly StreamedMessage[] = [
  message([...first, call('3', answered(true)), call('4', answered(false))]),
  message([...first, call('3', answered(true)), call('4', denied)]),
  message([...first, call('3', given), call('4', denied)]),
  message([...first, call('3', given), call('4', denied), step, text('It ')]),
  message([...first, call('3', given), call('4', denied), step, text('It rains. [1]'), source]),
  message([...first, call('3', given), call('4', denied), step, text('It rains. [1]'), source], 'complete'),
];
const WHOLE = REST.at(-1) as StreamedMessage;

/** What a reader of the stages hears who begins behind a place, and the place where it ends. */
const heard = (stages: readonly StreamedMessage[], after?: StreamPlace) => {
  const placed = [];
  let place = after;
  for (const stage of stages)
    for (const each of chunksOf(stage, place)) {
      placed.push({ id: placeText(answerId, each.place), chunk: each.chunk });
      place = each.place;
    }
  return placed;
};
const partsOf = async (chunks: readonly unknown[]) => {
  let last: unknown;
  const stream = new ReadableStream<UIMessageChunk>({
    start: (controller) => {
      for (const chunk of chunks) if (typeof chunk === 'object') controller.enqueue(chunk as UIMessageChunk);
      controller.close();
    },
  });
  for await (const state of readUIMessageStream({ stream, terminateOnError: true })) last = state.parts;
  return last;
};
const chunks = (all: ReturnType<typeof heard>) => all.map(({ chunk }) => chunk);
const placeOf = (id: string) => parsePlace(id)?.place;

describe('the stream of an answer', () => {
  it('is read by the AI SDK: steps, reasoning, calls, approvals and sources', async () => {
    const parts = await partsOf(chunks(heard([...STAGES, ...WAITS.slice(0, 1), ...REST])));
    const tool = { type: 'tool-weather', input: { city: 'Bonn' } };
    expect(parts).toMatchObject([
      { type: 'step-start' },
      { type: 'reasoning', text: 'Hmm', state: 'done' },
      { type: 'text', text: 'Let me look.', state: 'done' },
      { ...tool, toolCallId: '1', ...output },
      { ...tool, toolCallId: '2', ...output },
      { type: 'step-start' },
      { ...tool, toolCallId: '3', ...output, approval: { id: '3', approved: true } },
      { ...tool, toolCallId: '4', state: 'output-denied', approval: { id: '4', approved: false } },
      { type: 'step-start' },
      { type: 'text', text: 'It rains. [1]', state: 'done' },
      { type: 'source-document', sourceId: 's' },
    ]);
  });

  it('says the same to whoever hears it while it grows and to whoever hears it when it is whole', async () => {
    const growing = heard([...STAGES, ...WAITS.slice(0, 1), ...REST]);
    expect(await partsOf(chunks(growing))).toEqual(await partsOf(chunks(heard([WHOLE]))));
  });

  it('goes on behind any of its events, at whatever stage, without a word twice or missing', () =>
    fc.assert(
      fc.asyncProperty(fc.nat(100), fc.nat(100), async (at, later) => {
        const all = [...STAGES, ...WAITS.slice(0, 1), ...REST];
        const before = heard(all).slice(0, 1 + (at % heard(all).length));
        const after = placeOf(before.at(-1)?.id ?? '');
        const rest = heard(all.slice(later % all.length), after);
        expect(await partsOf(chunks([...before, ...rest]))).toEqual(await partsOf(chunks(heard([WHOLE]))));
      }),
    ));

  it('says words that go on as it says them from the start, also beside a call of their step', () => {
    const stages = [
      message([text('Half')]),
      message([text('Half an')]),
      message([text('Half an answer.'), call('1')]),
      message([text('Half an answer.'), call('1'), text('And')]),
      message([text('Half an answer.'), call('1'), text('And more')]),
      message([text('Half an answer.'), call('1', output), text('And more')]),
      message([text('Half an answer.'), call('1', output), text('And more'), step, text('It')]),
      message([text('Half an answer.'), call('1', output), text('And more'), step, text('It rains.')]),
    ];
    const said = chunks(heard(stages)).flatMap((chunk) =>
      typeof chunk === 'string' ? [chunk] : [chunk['delta'] ?? chunk['output'] ?? chunk['type']],
    );
    expect(said.join('|')).toBe(
      [
        'start|start-step|text-start|Half| an| answer.|text-end',
        'tool-input-start|tool-input-available|text-start|And| more',
        'text-end|Rain.|finish-step|start-step|text-start|It| rains.',
      ].join('|'),
    );
  });

  it('says at once what a call gave while the words of its step went on', () => {
    const stages = [message([call('1'), text('And')]), message([call('1', output), text('And more')])];
    expect(chunks(heard(stages)).slice(-3)).toMatchObject([
      { delta: ' more' },
      { type: 'text-end' },
      { output: 'Rain.' },
    ]);
  });

  it('ends where a call must be approved, says nothing new until it goes on, and goes on behind that end', async () => {
    const until = heard([...STAGES, ...WAITS]);
    expect(chunks(until).slice(-3)).toMatchObject([
      { type: 'finish-step' },
      { type: 'finish', finishReason: 'other' },
      '[DONE]',
    ]);
    const after = placeOf(until.at(-1)?.id ?? '');
    expect(heard(WAITS.slice(1), after)).toEqual([]);
    const rest = heard(REST, after);
    expect(chunks(rest)[0]).toMatchObject({ type: 'tool-approval-response', approvalId: '3', approved: true });
    expect(await partsOf(chunks([...until, ...rest]))).toEqual(await partsOf(chunks(heard([WHOLE]))));
  });

  it.each([
    ['stopped', [{ type: 'abort' }, '[DONE]']],
    ['failed', [{ type: 'error', errorText: 'internal' }, '[DONE]']],
  ] as const)('says that it was %s, also to who heard more than was kept', (status, last) => {
    const all = heard([message([text('Half an answer')]), message([text('Half')], status)]);
    expect(chunks(all).slice(-3)).toMatchObject([{ type: 'text-end' }, ...last]);
  });

  it('tells of proposed memories behind what the calls of their step gave: whoever heard those hears them too', () => {
    const memory = (memoryId: string): MessagePart => ({
      type: 'data-memory',
      data: { memoryId, status: 'proposed', kind: 'personal' },
    });
    const output = { state: 'output-available' as const, output: 'Rain.' };
    const growing = [
      message([call('a'), call('b')]),
      message([call('a', output), call('b')]),
      message([call('a', output), call('b', output), memory('1')]),
      message([call('a', output), call('b', output), memory('1'), { type: 'step-start' }, text('Noted.')], 'complete'),
    ];
    const said = chunks(heard(growing)).map((chunk) => (typeof chunk === 'string' ? chunk : chunk['type']));
    expect(said.slice(6, 11)).toEqual([
      'tool-output-available',
      'tool-output-available',
      'data-memory',
      'finish-step',
      'start-step',
    ]);
  });

  it('goes on behind the events of streams before answers had steps', () => {
    const whole = message([text('Half an answer. [1] [2]'), source, { ...source, sourceId: 't' }], 'complete');
    const behind = (stage: number, offset: number) =>
      chunks(heard([whole], placeOf(`${answerId}.${stage}.${offset}`))).map((chunk) =>
        typeof chunk === 'string' ? chunk : (chunk['delta'] ?? chunk['sourceId'] ?? chunk['type']),
      );
    const end = ['finish-step', 'finish', '[DONE]'];
    const rest = ['text-end', 's', 't', ...end];
    expect(behind(0, 0)).toEqual(['start-step', 'text-start', 'Half an answer. [1] [2]', ...rest]);
    expect(behind(2, 0)).toEqual(['Half an answer. [1] [2]', ...rest]);
    expect(behind(3, 8)).toEqual(['answer. [1] [2]', ...rest]);
    expect(behind(4, 0)).toEqual(rest.slice(1));
    expect(behind(5, 1)).toEqual(rest.slice(2));
    expect(behind(6, 0)).toEqual(end.slice(1));
    expect(behind(7, 0)).toEqual(end.slice(2));
    expect(behind(8, 0)).toEqual([]);
  });
});

it.each(['', 'x', `${answerId}.9.0`, `${answerId}.0.0.0.0`, `${answerId}.0.-1.0`, `${answerId}.1234567.0.0`])(
  '%j is no place',
  (given) => expect(parsePlace(given)).toBeUndefined(),
);
