import { type Behaviour, json } from '../fixtures/upstream-double';
import {
  CORE,
  invocations,
  newAgent,
  owner,
  platform,
  send,
  sent,
  stranger,
  upstream,
  withGenerating,
} from './generation-world';

/** Issue 20, number 10: `generateSpeech` and `transcribe`, over HTTP, against a provider that does as it likes. */

withGenerating({ speechModel: 'voice', transcriptionModel: 'ears' });

const MP3 = Buffer.from('ID3\u0004and then sound', 'latin1');
/** A sound of 16 bit samples, 8,000 a second. */
const wav = (seconds: number, fill = 7): Buffer => {
  const samples = Buffer.alloc(seconds * 16_000, fill);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(16_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
};
interface Made {
  readonly base64: string;
  readonly mimeType: string;
  readonly text: string;
  readonly usage: { readonly units: object; readonly cost: string };
  readonly invocationId: string;
  readonly code: string;
  readonly errors: readonly { readonly path: string }[];
}
const make = (agent: string, operation: string, body: object, key = owner.key) =>
  send<Made>(`/llm/${agent}/${operation}`, body, key);
const speaking: Behaviour = (response, { body }) =>
  response
    .writeHead(200, { 'content-type': 'audio/mpeg' })
    .end(body['response_format'] === 'wav' ? wav(1, (body['input'] as string).length) : MP3);

describe('generateSpeech', () => {
  it('answers a sound as base64, billed by the character', async () => {
    const agent = await newAgent();
    upstream.behaviour = speaking;
    const text = 'Grüße, Welt 🙂';
    const { status, body } = await make(agent, 'generateSpeech', { text, voiceName: 'alloy' });
    expect([status, body]).toEqual([
      200,
      {
        base64: MP3.toString('base64'),
        mimeType: 'audio/mpeg',
        usage: { units: { characters: 13 }, cost: '0.000195', currency: 'USD', isIncludedUsage: false },
        model: 'voice',
        invocationId: expect.any(String) as string,
      },
    ]);
    expect([upstream.calls[0]?.path, sent()]).toEqual([
      '/v1/audio/speech',
      [{ model: 'voice', input: text, voice: 'alloy', response_format: 'mp3' }],
    ]);
    expect(await invocations(agent, 1)).toMatchObject([
      { id: body.invocationId, kind: 'speech', outcome: 'ok', usage: { units: { characters: 13 }, cost: '0.000195' } },
    ]);
  });

  it('has each of two speakers say their lines, one after another, as one sound and one call', async () => {
    const agent = await newAgent();
    upstream.behaviour = speaking;
    const text = 'Ann: Hello.\n  Bob: Hi!\nHow are you?\nAnn: Well.';
    const speakers = [
      { name: 'Ann', voiceName: 'nova' },
      { name: 'Bob', voiceName: 'onyx' },
    ];
    const { body } = await make(agent, 'generateSpeech', { text, speakers });
    expect(sent()).toMatchObject([
      { input: 'Hello.', voice: 'nova', response_format: 'wav' },
      { input: 'Hi!\nHow are you?', voice: 'onyx' },
      { input: 'Well.', voice: 'nova' },
    ]);
    const sound = Buffer.from(body.base64, 'base64');
    expect([body.mimeType, sound.length, sound.readUInt32LE(4), sound.readUInt32LE(40)]).toEqual([
      'audio/wav',
      44 + 3 * 16_000,
      36 + 3 * 16_000,
      3 * 16_000,
    ]);
    expect([sound[44], sound[44 + 16_000], sound[44 + 32_000]]).toEqual([6, 16, 5]);
    expect(body.usage).toMatchObject({ units: { characters: 27 }, cost: '0.000405' });
    expect((await invocations(agent, 1)).length).toBe(1);
  });

  it('that breaks off between two speakers is billed for what was said', async () => {
    const agent = await newAgent();
    upstream.behaviour = (response, call) => {
      if (upstream.calls.length === 1) speaking(response, call);
      else json(response, 400, {});
    };
    const speakers = [
      { name: 'Ann', voiceName: 'nova' },
      { name: 'Bob', voiceName: 'onyx' },
    ];
    expect((await make(agent, 'generateSpeech', { text: 'Ann: Hello.\nBob: Hi!', speakers })).status).toBe(502);
    expect(await invocations(agent, 1)).toMatchObject([
      { outcome: 'failed', usage: { units: { characters: 6 }, cost: '0.00009' } },
    ]);
  });

  it.each<[string, object]>([
    ['speakers', { speakers: ['a', 'b', 'c'].map((name) => ({ name, voiceName: 'nova' })) }],
    ['speakers', { speakers: [] }],
    ['speakers', { speakers: ['a', 'a'].map((name) => ({ name, voiceName: 'nova' })) }],
    ['', { voiceName: 'nova', speakers: [{ name: 'a', voiceName: 'nova' }] }],
    ['', {}],
    ['voiceName', { voiceName: '../nova' }],
    ['text', { voiceName: 'nova', text: ' ' }],
    ['text', { voiceName: 'nova', text: 'x'.repeat(100_001) }],
    ['text', { speakers: [{ name: 'a', voiceName: 'nova' }], text: 'a:\na:' }],
    [
      'text',
      { speakers: ['a', 'b'].map((name) => ({ name, voiceName: `v${name}` })), text: 'a: x\nb: y\n'.repeat(51) },
    ],
    ['speed', { voiceName: 'nova', speed: 2 }],
  ])('is a 400 that names %j: %j', async (path, given) => {
    const agent = await newAgent();
    const { status, body } = await make(agent, 'generateSpeech', { text: 'Hello.', ...given });
    expect([status, body.errors[0]?.path]).toEqual([400, path]);
    expect(upstream.calls).toEqual([]);
  });

  it.each<[string, Behaviour]>([
    ['is JSON', (response) => json(response, 200, { error: 'no' })],
    ['is nothing', (response) => response.writeHead(200, { 'content-type': 'audio/mpeg' }).end()],
    ['is a page', (response) => response.writeHead(200, { 'content-type': 'audio/mpeg' }).end('<html>')],
  ])('is an upstream error where the answer %s', async (_, behaviour) => {
    const agent = await newAgent();
    upstream.behaviour = behaviour;
    expect((await make(agent, 'generateSpeech', { text: 'Hello.', voiceName: 'nova' })).body.code).toBe(
      'upstream_error',
    );
  });
});

describe('transcribe', () => {
  const sound = wav(90);
  const asked = { audioBase64: sound.toString('base64'), mimeType: 'audio/wav' };
  const hearing =
    (answer: object): Behaviour =>
    (response) =>
      json(response, 200, { text: 'Grüße.', ...answer });

  it('answers what is said, billed by the second', async () => {
    const agent = await newAgent();
    upstream.behaviour = hearing({ duration: 89.2 });
    const { status, body } = await make(agent, 'transcribe', { ...asked, prompt: 'Vexolumir' });
    expect([status, body]).toEqual([
      200,
      {
        text: 'Grüße.',
        usage: { units: { seconds: 90 }, cost: '0.009', currency: 'USD', isIncludedUsage: false },
        model: 'ears',
        invocationId: expect.any(String) as string,
      },
    ]);
    expect([upstream.calls[0]?.path, sent()]).toMatchObject([
      '/v1/audio/transcriptions',
      [{ model: 'ears', prompt: 'Vexolumir', response_format: 'verbose_json', file: { name: 'file.wav' } }],
    ]);
    // Jest compares megabytes one by one, for seconds.
    const [{ file }] = sent() as unknown as readonly [{ file: { type: string; bytes: Buffer } }];
    expect([file.type, file.bytes.equals(sound)]).toEqual(['audio/wav', true]);
    expect(await invocations(agent, 1)).toMatchObject([
      { kind: 'transcription', outcome: 'ok', usage: { units: { seconds: 90 }, cost: '0.009' } },
    ]);
  });

  it.each<[string, object, number]>([
    ['as its provider says', { usage: { type: 'duration', seconds: 61 } }, 61],
    ['as the sound says, where its provider does not', {}, 90],
    ['as the sound says, where what its provider says cannot be', { duration: 1e9 }, 90],
    ['as the sound says, where its provider says less than nothing', { usage: { seconds: -5 } }, 90],
  ])('is billed by the seconds %s', async (_, answer, seconds) => {
    const agent = await newAgent();
    upstream.behaviour = hearing(answer);
    expect((await make(agent, 'transcribe', asked)).body.usage).toMatchObject({ units: { seconds } });
  });

  it('is asked for in the form that its provider takes', async () => {
    const agent = await newAgent();
    upstream.behaviour = (response, call) =>
      call.body['response_format'] === 'json'
        ? hearing({ usage: { type: 'duration', seconds: 88 } })(response, call)
        : json(response, 400, { error: { param: 'response_format', code: 'unsupported_value' } });
    expect((await make(agent, 'transcribe', asked)).body).toMatchObject({
      text: 'Grüße.',
      usage: { units: { seconds: 88 } },
    });
    upstream.behaviour = (response) => json(response, 400, { error: { param: 'response_format' } });
    expect((await make(agent, 'transcribe', asked)).status).toBe(502);
    expect(upstream.calls).toHaveLength(4);
  });

  it('is billed as long as its file says, by its size where nobody says how long it is, and a file that lies is not cheaper', async () => {
    const agent = await newAgent();
    upstream.behaviour = hearing({});
    const mp3 = { audioBase64: Buffer.alloc(80_000, 1).toString('base64'), mimeType: 'audio/mpeg' };
    expect((await make(agent, 'transcribe', mp3)).body.usage).toMatchObject({ units: { seconds: 10 } });
    // A minute of MP3 at 128 kbit/s, which has two minutes' bytes of speech that is kept.
    const frame = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0]), Buffer.alloc(413)]);
    const minute = Buffer.concat(Array.from({ length: 2_297 }, () => frame)).toString('base64');
    const heard = await make(agent, 'transcribe', { audioBase64: minute, mimeType: 'audio/mpeg' });
    expect(heard.body.usage).toMatchObject({ units: { seconds: 61 }, cost: '0.0061' });
    const lying = Buffer.from(sound);
    lying.writeUInt32LE(4_000_000_000, 28);
    const audioBase64 = lying.toString('base64');
    expect((await make(agent, 'transcribe', { ...asked, audioBase64 })).body.usage).toMatchObject({
      units: { seconds: 90 },
    });
  });

  it.each<[string, object]>([
    ['audioBase64', { audioBase64: 'not base64!' }],
    ['audioBase64', { audioBase64: '' }],
    ['audioBase64', { audioBase64: 'data:audio/wav;base64,AAAA' }],
    ['mimeType', { mimeType: 'text/html' }],
    ['mimeType', { mimeType: 'audio/wav\r\nx: y' }],
    ['language', { language: 'de' }],
  ])('is a 400 that names %j: %j', async (path, given) => {
    const agent = await newAgent();
    const { status, body } = await make(agent, 'transcribe', { ...asked, ...given });
    expect([status, body.errors[0]?.path]).toEqual([400, path]);
    expect(upstream.calls).toEqual([]);
  });

  it('takes megabytes within its limits, and no more', async () => {
    const agent = await newAgent();
    upstream.behaviour = hearing({});
    const audio = (bytes: number) => ({ ...asked, audioBase64: Buffer.alloc(bytes, 1).toString('base64') });
    expect((await make(agent, 'transcribe', audio(20_000_000))).status).toBe(200);
    expect((await make(agent, 'transcribe', audio(26_000_000))).status).toBe(413);
  });
});

describe('a kind without a default', () => {
  it.each([
    ['generateImage', { prompt: 'A ferry' }, 'painter'],
    ['generateSpeech', { text: 'Hello.', voiceName: 'nova' }, 'chat'],
    ['transcribe', { audioBase64: 'AAAA', mimeType: 'audio/wav' }, 'nothing'],
  ])('is 409, and so is a model of another kind: %s', async (operation, body, model) => {
    const agent = await newAgent();
    const notAvailable = { status: 409, body: { code: 'model_not_available' } };
    if (operation === 'generateImage') expect(await make(agent, operation, body)).toMatchObject(notAvailable);
    else expect(await make(agent, operation, { ...body, model })).toMatchObject(notAvailable);
    expect(upstream.calls).toEqual([]);
  });

  it('may be named by the request', async () => {
    const agent = await newAgent();
    upstream.behaviour = (response) =>
      json(response, 200, { data: [{ b64_json: Buffer.from('GIF89a').toString('base64') }] });
    expect((await make(agent, 'generateImage', { prompt: 'A ferry', model: 'painter' })).status).toBe(200);
  });
});

describe("somebody else's Agent", () => {
  it.each([
    ['generateText', { prompt: 'Hi' }],
    ['generateObject', { prompt: 'Hi', schema: {} }],
    ['generateImage', { prompt: 'A ferry' }],
    ['generateSpeech', { text: 'Hello.', voiceName: 'nova' }],
    ['transcribe', { audioBase64: 'AAAA', mimeType: 'audio/wav' }],
  ])('is told apart from none by nothing, and reaches no model: %s', async (operation, body) => {
    const agent = await newAgent();
    const { key } = await platform.newCaller({ allAgents: true });
    const nobody = '01900000-0000-7000-8000-00000000dead';
    const told = async (id: string, requester: string) => {
      const answer = await make(id, operation, body, requester);
      return [answer.status, answer.text.replace(id, 'ID').replace(/"requestId":"[^"]+"/, '')];
    };
    for (const requester of [key, stranger.key])
      expect(await told(agent, requester)).toEqual(await told(nobody, requester));
    expect((await told(agent, key))[0]).toBe(404);
    expect((await platform.call(`${CORE}/llm/${agent}/${operation}`, { method: 'POST', body, key: null })).status).toBe(
      401,
    );
    expect(upstream.calls).toEqual([]);
  });
});
