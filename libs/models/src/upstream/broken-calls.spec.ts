import type { ServerResponse } from 'node:http';
import {
  DONE,
  events,
  json,
  startUpstreamDouble,
  type UpstreamDouble,
} from '../../../../test/fixtures/upstream-double';
import { readCatalogue, type ModelDescription } from '../catalogue';
import { userText } from '../chat-messages';
import type { ChatChunk, ChatRequest } from '../provider';
import type { UpstreamFailure } from './failure';
import { OpenAiProvider } from './openai-provider';
import { Upstream } from './upstream';

let double: UpstreamDouble;
let provider: OpenAiProvider;
let upstream: Upstream;
let misbehave: (response: ServerResponse) => unknown;
const model: ModelDescription = {
  ...(readCatalogue(undefined, 'USD').models.get('local-chat') as ModelDescription),
  key: 'big',
  provider: 'acme',
};
beforeAll(async () => {
  double = await startUpstreamDouble();
  double.behaviour = (response) => misbehave(response);
  const { baseUrl } = double;
  upstream = new Upstream(
    'acme',
    { kind: 'openai', baseUrl, apiVersion: '1', timeoutMs: 30_000, forward: [] },
    undefined,
  );
  provider = new OpenAiProvider(new Map([['big', [{ model, upstream }]]]));
});
beforeEach(() => void (double.calls.length = 0));
afterAll(async () => {
  await upstream.close();
  await double.stop();
});

const request = (given: Partial<ChatRequest> = {}): ChatRequest => ({
  model,
  system: '',
  messages: [userText('Hello?')],
  sources: [],
  sampling: {},
  signal: new AbortController().signal,
  ...given,
});
const heard = async (given: Partial<ChatRequest> = {}) => {
  const chunks: ChatChunk[] = [];
  for await (const chunk of provider.stream(request(given))) chunks.push(chunk);
  return chunks;
};
const delta = (fields: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: fields, finish_reason }],
});
const calls = (...tool_calls: object[]) => delta({ tool_calls });
const called = (name: string, text: unknown, more: object = {}) => ({ ...more, function: { name, arguments: text } });

describe('calls of tools', () => {
  const many = Array.from({ length: 129 }, (_, index) => called('weather', '{}', { index, id: `${index}` }));
  const nameless = { index: 0, id: 'a', function: { arguments: '{}' } };

  it.each<[string, readonly object[]]>([
    ['a call has no name', [nameless]],
    ['there are too many calls', many],
  ])('are no answer where %s, and billed as their provider says', async (_, made) => {
    const usage = { prompt_tokens: 12, completion_tokens: 3_000, total_tokens: 3_012 };
    const billed = {
      kind: 'broken',
      facts: { status: 200, work: { usage: { inputTokens: 12, outputTokens: 3_000 } } },
    };
    misbehave = (response) =>
      events(response, calls(...made), delta({}, 'tool_calls'), { choices: [], usage }, DONE).end();
    await expect(heard()).rejects.toMatchObject(billed);
    misbehave = (response) =>
      json(response, 200, { choices: [{ message: { tool_calls: made }, finish_reason: 'tool_calls' }], usage });
    await expect(provider.complete(request())).rejects.toMatchObject(billed);
    expect(double.calls).toHaveLength(2);
  });

  it.each<[string, (response: ServerResponse) => unknown]>([
    ['there are too many calls', (response) => events(response, calls(...many), delta({}, 'tool_calls'), DONE).end()],
    ['its stream ends without saying why', (response) => events(response, calls(many[0] as object), DONE).end()],
    ['its stream holds garbage', (response) => events(response, calls(many[0] as object), 'data: {"ch\n\n').end()],
    [
      'its stream is cut',
      (response) => events(response, calls(many[0] as object)).write(':', () => response.destroy()),
    ],
  ])(
    'are made again, each billed by the time it had, where the provider does not say what it used and %s',
    async (_, behaviour) => {
      misbehave = behaviour;
      const broken: UpstreamFailure[] = [];
      const onBrokenOff = async (failure: UpstreamFailure): Promise<void> => void broken.push(failure);
      const work = { model: { key: 'big' }, ms: expect.any(Number) as number };
      await expect(heard({ onBrokenOff })).rejects.toMatchObject({ kind: 'broken', facts: { work } });
      expect(broken.map(({ facts }) => facts)).toMatchObject([{ work }, { work }]);
      expect(double.calls).toHaveLength(3);
    },
  );

  it('are made again, each billed by the time it had, where a whole answer has too many and no usage', async () => {
    misbehave = (response) =>
      json(response, 200, { choices: [{ message: { tool_calls: many }, finish_reason: 'tool_calls' }] });
    const onBrokenOff = jest.fn(async () => undefined);
    const failure = provider.complete(request({ onBrokenOff }));
    await expect(failure).rejects.toMatchObject({ kind: 'broken', facts: { work: { model: { key: 'big' } } } });
    expect(onBrokenOff).toHaveBeenCalledTimes(2);
  });
});
