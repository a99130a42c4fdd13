import type { Child } from '../e2e/child';
import { EVER } from '../fixtures/ever';
import { type Behaviour, json, startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { until } from '../fixtures/until';
import { writeModelsFile } from '../fixtures/models-file';
import { KEY, killedProduct } from './killed-product';

/**
 * Images, speech and transcripts whose process is killed, whose client is lost or whose provider breaks off in the middle, and which are asked
 * for once more under the same `Idempotency-Key`: each call of the provider has one record, also one that broke off, and what was answered is billed once.
 */
const product = killedProduct('media-kill');
const GIF = Buffer.from('GIF89a').toString('base64');
const MP3 = Buffer.from('ID3\u0004and then sound', 'latin1');
const WAV = Buffer.concat([
  Buffer.from('RIFF\0\0\0\0WAVEfmt ', 'latin1'),
  Buffer.from([16, 0, 0, 0, 1, 0, 1, 0, 0x40, 0x1f, 0, 0, 0x80, 0x3e, 0, 0, 2, 0, 16, 0]),
  Buffer.from('data\xff\xff\xff\x7f', 'latin1'),
  Buffer.alloc(160_000),
]);
/** What is asked for, and what that costs. */
const MEDIA: readonly (readonly [operation: string, body: object, cost: number])[] = [
  ['generateImage', { prompt: 'A ferry', n: 2 }, 0.08],
  ['generateSpeech', { text: 'Hello there.', voiceName: 'alloy' }, 0.00018],
  ['transcribe', { audioBase64: WAV.toString('base64'), mimeType: 'audio/wav' }, 0.001],
];
const makes: Behaviour = (response, { path }) => {
  if (path.includes('/images/')) return json(response, 200, { data: [{ b64_json: GIF }, { b64_json: GIF }] });
  if (path.includes('/speech')) return response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(MP3);
  return json(response, 200, { text: 'Hello.' });
};

interface Invocation {
  readonly id: string;
  readonly outcome: string;
  readonly usage: { readonly cost: string };
}

let modelsFile: string;
let upstream: UpstreamDouble;
beforeEach(async () => {
  upstream = await startUpstreamDouble();
  const priced = (key: string, kind: string, price: object) => ({
    key,
    kind,
    pricing: { currency: 'USD', ...price },
  });
  const models = [
    priced('painter', 'image', { perImage: '0.04' }),
    priced('voice', 'speech', { perMillionCharacters: '15' }),
    priced('ears', 'transcription', { perMinute: '0.006' }),
  ];
  const defaults = { imageModel: 'painter', speechModel: 'voice', transcriptionModel: 'ears' };
  modelsFile = writeModelsFile(product.folder(), upstream, models, defaults);
});
afterEach(() => upstream.stop());

const start = () => product.start({ MODELS_FILE: modelsFile });
const call = async <T>(
  { url }: Child,
  path: string,
  body?: object,
  given: { readonly key?: string; readonly signal?: AbortSignal } = {},
): Promise<{ readonly status: number; readonly body: T }> => {
  const response = await fetch(`${url}/api/v1/core/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'x-api-key': KEY,
      'content-type': 'application/json',
      ...(given.key === undefined ? {} : { 'idempotency-key': given.key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(given.signal === undefined ? {} : { signal: given.signal }),
  });
  return { status: response.status, body: (await response.json()) as T };
};
const newAgent = async (child: Child): Promise<string> =>
  (await call<{ id: string }>(child, 'agents', { name: 'Studio', knowledgeEnabled: false })).body.id;
/** Every record, once there are so many and nothing is held any more. */
const records = async (child: Child, limitId: string, count: number): Promise<readonly Invocation[]> => {
  const all = async () => (await call<{ items: readonly Invocation[] }>(child, `usage/invocations?${EVER}`)).body.items;
  const limit = async () => (await call<{ held: string; spent: string }>(child, `cost-control/${limitId}`)).body;
  await until(async () => (await all()).length >= count && Number((await limit()).held) === 0, 'the records');
  const found = await all();
  expect(Number((await limit()).spent)).toBeCloseTo(
    found.reduce((sum, { usage }) => sum + Number(usage.cost), 0),
    9,
  );
  expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
  return found;
};
const limitOf = async (child: Child): Promise<string> =>
  (await call<{ id: string }>(child, 'cost-control', { scope: { type: 'instance' }, amount: '9', window: 'total' }))
    .body.id;
const billed = (found: readonly Invocation[], outcome: string): readonly number[] =>
  found.filter((each) => each.outcome === outcome).map(({ usage }) => Number(usage.cost));

test.each(MEDIA)('%s whose process is killed in the middle', async (operation, body, cost) => {
  let child = await start();
  const [agent, limitId] = [await newAgent(child), await limitOf(child)];
  upstream.behaviour = () => undefined;
  const killed = call(child, `llm/${agent}/${operation}`, body, { key: 'again' });
  await until(() => upstream.calls.length === 1, 'the call');
  child.kill('SIGKILL');
  // The kill leaves it without an answer.
  await Promise.all([child.exited, expect(killed).rejects.toThrow('fetch failed')]);
  upstream.behaviour = makes;
  child = await start();
  const again = () => call<{ invocationId: string }>(child, `llm/${agent}/${operation}`, body, { key: 'again' });
  let first = await again();
  await until(async () => (first.status === 200 ? true : ((first = await again()), false)), 'an answer', {
    patience: 30_000,
  });
  expect((await again()).body).toEqual(first.body);
  const found = await records(child, limitId, 2);
  expect([found.length, upstream.calls.length]).toEqual([2, 2]);
  expect(billed(found, 'ok')).toEqual([cost]);
  // Nobody knows what came of the other; it is billed for no more than what was asked for.
  for (const { usage } of found) expect(Number(usage.cost)).toBeLessThanOrEqual(cost);
});

test.each(MEDIA)('%s whose client is lost in the middle', async (operation, body, cost) => {
  const child = await start();
  const [agent, limitId] = [await newAgent(child), await limitOf(child)];
  const lost = new AbortController();
  upstream.behaviour = () => undefined;
  const asked = call(child, `llm/${agent}/${operation}`, body, { key: 'again', signal: lost.signal });
  const left = asked.catch((error: Error) => error.name);
  await until(() => upstream.calls.length === 1, 'the call');
  lost.abort();
  expect(await left).toBe('AbortError');
  await until(() => upstream.open === 0, 'the provider is left');
  upstream.behaviour = makes;
  const again = () => call<{ code?: string }>(child, `llm/${agent}/${operation}`, body, { key: 'again' });
  let first = await again();
  await until(async () => (first.status === 200 ? true : ((first = await again()), false)), 'an answer');
  expect((await again()).body).toEqual(first.body);
  const found = await records(child, limitId, 2);
  // The provider made both.
  expect([upstream.calls.length, billed(found, 'ok'), billed(found, 'aborted')]).toEqual([2, [cost], [cost]]);
});

test.each(MEDIA)('%s whose provider breaks off in the middle', async (operation, body, cost) => {
  const child = await start();
  const [agent, limitId] = [await newAgent(child), await limitOf(child)];
  upstream.behaviour = (response, seen) => {
    if (upstream.calls.length > 1) return makes(response, seen);
    response.writeHead(200, { 'content-type': 'application/json' }).write('{');
    return setTimeout(() => response.destroy(), 50);
  };
  expect((await call(child, `llm/${agent}/${operation}`, body)).status).toBe(200);
  const found = await records(child, limitId, 2);
  expect([upstream.calls.length, billed(found, 'ok'), billed(found, 'failed')]).toEqual([2, [cost], [cost]]);
});
