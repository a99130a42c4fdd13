import { type Behaviour, chunk, events, json } from '../fixtures/upstream-double';
import { invocations, newAgent, send, sent, upstream, withGenerating } from './generation-world';
import { ADMIN_KEY } from './harness';

/** A provider that breaks off images, sounds and transcripts bills what it was at: each such try is an invocation of its own, as that of a chat is. */

withGenerating({ imageModel: 'painter', speechModel: 'voice', transcriptionModel: 'ears' });

const PNG = Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1').toString('base64');
const SOUND = Buffer.from('ID3\u0004and then sound', 'latin1');
/** A second of sound, 16 bit samples, 8,000 of them. */
const wav = (): Buffer => {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.write('WAVEfmt ', 8, 'latin1');
  for (const [at, value] of [
    [4, 16_036],
    [16, 16],
    [24, 8_000],
    [28, 16_000],
    [40, 16_000],
  ] as const)
    head.writeUInt32LE(value, at);
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 2],
    [34, 16],
  ] as const)
    head.writeUInt16LE(value, at);
  head.write('data', 36, 'latin1');
  return Buffer.concat([head, Buffer.alloc(16_000)]);
};
interface Made {
  readonly code: string;
  readonly text: string;
  readonly usage: { readonly units: object; readonly cost: string };
  readonly invocationId: string;
}
const make = (agent: string, operation: string, body: object) => send<Made>(`/llm/${agent}/${operation}`, body);

const breakingOff: Behaviour = (response) => void response.writeHead(200).write('{"', () => response.destroy());
/** The first of these once each, the last one for ever. */
const inTurn =
  (...behaviours: readonly Behaviour[]): Behaviour =>
  (response, call) =>
    behaviours[Math.min(upstream.calls.length, behaviours.length) - 1]?.(response, call);
const painting: Behaviour = (response) => json(response, 200, { data: [{ b64_json: PNG }, { b64_json: PNG }] });
const speaking: Behaviour = (response, { body }) =>
  response.writeHead(200).end(body['response_format'] === 'wav' ? wav() : SOUND);
const hearing: Behaviour = (response) => json(response, 200, { text: 'Gr\u0000üße\ud800.', duration: 30 });

const sound = Buffer.alloc(90 * 8_000, 1).toString('base64');
const DIALOGUE = {
  text: 'Ann: Hello.\nBob: Hi!',
  speakers: [
    { name: 'Ann', voiceName: 'nova' },
    { name: 'Bob', voiceName: 'onyx' },
  ],
};

it.each<[string, string, object, Behaviour, object[], object, string]>([
  [
    'images',
    'generateImage',
    { prompt: 'A ferry', n: 2 },
    inTurn(breakingOff, breakingOff, painting),
    [{ images: 2 }, { images: 2 }, { images: 2 }],
    { images: 6 },
    '0.24',
  ],
  [
    'a speech',
    'generateSpeech',
    { text: 'Hello.', voiceName: 'nova' },
    inTurn(breakingOff, speaking),
    [{ characters: 6 }, { characters: 6 }],
    { characters: 12 },
    '0.00018',
  ],
  [
    'a dialogue, whose first line was said by the call that broke off in the second',
    'generateSpeech',
    DIALOGUE,
    inTurn(speaking, breakingOff, speaking),
    [{ characters: 9 }, { characters: 3 }],
    { characters: 12 },
    '0.00018',
  ],
  [
    'a transcript',
    'transcribe',
    { audioBase64: sound, mimeType: 'audio/mpeg' },
    inTurn(breakingOff, hearing),
    [{ seconds: 480 }, { seconds: 30 }],
    { seconds: 510 },
    '0.051',
  ],
])('%s: each try is billed', async (_, operation, body, behaviour, units, sum, cost) => {
  const agent = await newAgent();
  upstream.behaviour = behaviour;
  const made = await make(agent, operation, body);
  expect([made.status, made.body.usage]).toEqual([200, { units: sum, cost, currency: 'USD', isIncludedUsage: false }]);
  const recorded = (await invocations(agent, units.length)).toReversed();
  expect(recorded.map(({ usage }) => usage['units'])).toEqual(units);
  expect(recorded.map(({ outcome }) => outcome)).toEqual(
    units.map((__, at) => (at + 1 < units.length ? 'failed' : 'ok')),
  );
  expect(recorded.at(-1)?.id).toBe(made.body.invocationId);
});

it('a try that its provider refuses, or fails before any work, costs nothing', async () => {
  const agent = await newAgent();
  const failing: Behaviour = (response) => json(response, 503, {});
  upstream.behaviour = inTurn(failing, failing, painting);
  expect((await make(agent, 'generateImage', { prompt: 'A ferry', n: 2 })).body.usage).toMatchObject({ cost: '0.08' });
  expect(await invocations(agent, 1)).toMatchObject([{ outcome: 'ok', usage: { units: { images: 2 } } }]);
});

it('a try that uses a limit up is the last', async () => {
  const agent = await newAgent();
  await send('/cost-control', { scope: { type: 'agent', id: agent }, amount: '0.05', window: 'total' }, ADMIN_KEY);
  upstream.behaviour = breakingOff;
  const { status, body } = await make(agent, 'generateImage', { prompt: 'A ferry', n: 2 });
  expect([status, body.code, upstream.calls.length]).toEqual([429, 'usage_limit_exceeded', 1]);
  expect(await invocations(agent, 1)).toMatchObject([{ outcome: 'failed', usage: { cost: '0.08' } }]);
});

it.each<[string, unknown, number, string]>([
  ['named by an address', [{ url: 'http://127.0.0.1:1/secret.png' }], 1, '0.04'],
  ['no image', [{ b64_json: Buffer.from('<script>').toString('base64') }], 1, '0.04'],
  ['null', [null], 1, '0.04'],
  ['not there: another try may have some', [], 3, '0'],
])(
  'an image that is %s is asked for as often as a retry can mend it, and billed where it was made',
  async (_, data, tries, cost) => {
    const agent = await newAgent();
    upstream.behaviour = (response) => json(response, 200, { data });
    expect(await make(agent, 'generateImage', { prompt: 'A ferry' })).toMatchObject({
      status: 502,
      body: { code: 'upstream_error' },
    });
    expect(sent()).toHaveLength(tries);
    expect(await invocations(agent, 1)).toMatchObject([{ outcome: 'failed', usage: { cost } }]);
  },
);

const USED = { prompt_tokens: 1_000, completion_tokens: 50, total_tokens: 1_050 };
it.each<[string, object, object, string]>([
  ['generateImage', { prompt: 'A ferry', model: 'gpt-image-1' }, { data: [], usage: USED }, '0.007'],
  ['generateText', { prompt: 'Hello?' }, { choices: [], usage: USED }, '0.0011'],
  ['conversation', { message: 'Hello?' }, { choices: [], usage: USED }, '0.0011'],
])(
  'what is no answer of %s is billed as its provider says, and asked for once',
  async (operation, body, said, cost) => {
    const agent = await newAgent();
    upstream.behaviour = (response, call) => {
      if (call.body['stream'] !== true) return json(response, 200, said);
      events(response, { id: 'x', ...said }).end();
    };
    expect(await make(agent, operation, body)).toMatchObject({ status: 502, body: { code: 'upstream_error' } });
    expect(sent()).toHaveLength(1);
    expect(await invocations(agent, 1)).toMatchObject([
      { outcome: 'failed', usageSource: 'upstream', usage: { cost } },
    ]);
  },
);

it('an answer is billed what it said behind an early word of what it used', async () => {
  const agent = await newAgent();
  upstream.behaviour = (response) =>
    events(
      response,
      chunk({ role: 'assistant', content: 'a' }, null, 'chat', { usage: { prompt_tokens: 100, completion_tokens: 1 } }),
      chunk({ content: 'x'.repeat(399) }),
      chunk({}, 'stop'),
    ).end();
  expect((await make(agent, 'conversation', { message: 'Hello?' })).status).toBe(200);
  expect(await invocations(agent, 1)).toMatchObject([
    { outcome: 'ok', usageSource: 'counted', usage: { inputTokens: 100, outputTokens: 100 } },
  ]);
});

it('what a model heard has neither control characters that break what stores it, nor halves of characters', async () => {
  const agent = await newAgent();
  upstream.behaviour = hearing;
  expect((await make(agent, 'transcribe', { audioBase64: sound, mimeType: 'audio/mpeg' })).body.text).toBe(
    'Grüße\ufffd.',
  );
});
