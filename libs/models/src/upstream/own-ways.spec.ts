import type { ServerResponse } from 'node:http';
import {
  DONE,
  events,
  json,
  startUpstreamDouble,
  type UpstreamDouble,
} from '../../../../test/fixtures/upstream-double';
import { type ModelDescription, type ProviderDescription, readCatalogue } from '../catalogue';
import { userText } from '../chat-messages';
import type { ChatChunk, ChatRequest } from '../provider';
import { OpenAiProvider } from './openai-provider';
import { Upstream } from './upstream';

/** What some providers do in ways of their own. */

const upstreams: Upstream[] = [];
const paths: string[] = [];
let double: UpstreamDouble;
let says: (response: ServerResponse) => unknown;
beforeAll(async () => {
  double = await startUpstreamDouble();
  double.behaviour = (response, { path }) => {
    paths.push(path);
    return says(response);
  };
});
afterAll(async () => {
  await Promise.all(upstreams.map((upstream) => upstream.close()));
  await double.stop();
});

const model: ModelDescription = {
  ...(readCatalogue(undefined, 'USD').models.get('local-chat') as ModelDescription),
  key: 'big',
  modelId: 'acme-big',
  provider: 'acme',
};
const request: ChatRequest = {
  model,
  system: '',
  messages: [userText('Hello?')],
  sources: [],
  sampling: {},
  signal: new AbortController().signal,
};
const provider = (given: Partial<ProviderDescription> = {}) => {
  const known = { kind: 'openai' as const, baseUrl: double.baseUrl, apiVersion: '2', timeoutMs: 30_000, forward: [] };
  const upstream = new Upstream('acme', { ...known, ...given }, undefined);
  upstreams.push(upstream);
  return new OpenAiProvider(new Map([['big', [{ model, upstream }]]]));
};
const answers = (content: unknown) => (response: ServerResponse) =>
  json(response, 200, { choices: [{ message: { content }, finish_reason: 'stop' }] });
const delta = (fields: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: fields, finish_reason }],
});
const thought = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });

it('a content is a list of parts: texts, and what the model thought before them', async () => {
  says = answers([thought('Hm.'), { type: 'thinking', thinking: 'So.' }, { type: 'text', text: 'Yes.' }]);
  expect((await provider().complete(request)).content).toEqual([
    { type: 'reasoning', text: 'Hm.So.' },
    { type: 'text', text: 'Yes.' },
  ]);
});

it('the pieces of a stream are such lists, or texts', async () => {
  const pieces = [
    delta({ role: 'assistant', content: [thought('Let me ')] }),
    delta({ content: [thought('think.')] }),
    delta({
      content: [
        { type: 'text', text: 'Yes' },
        { type: 'reference', reference_ids: [1] },
      ],
    }),
    delta({ content: '.' }),
  ];
  says = (response) => events(response, ...pieces, delta({}, 'stop'), DONE).end();
  const chunks: ChatChunk[] = [];
  for await (const chunk of provider().stream(request)) chunks.push(chunk);
  expect(chunks.slice(0, -1)).toEqual([
    { type: 'reasoning', text: 'Let me ' },
    { type: 'reasoning', text: 'think.' },
    { type: 'text', text: 'Yes' },
    { type: 'text', text: '.' },
  ]);
  expect(chunks.at(-1)).toMatchObject({
    finishReason: 'stop',
    usage: { outputTokens: 5, outputTokenDetails: { reasoningTokens: 4 } },
  });
});

it('a base URL has a query, which goes with each call', async () => {
  says = answers('Hi');
  const { origin } = new URL(double.baseUrl);
  await provider({ baseUrl: `${origin}/v1/?api-version=preview&tenant=a%20b` }).complete(request);
  await provider({ kind: 'azure', baseUrl: `${origin}?tenant=1` }).complete(request);
  await provider({ kind: 'azure', baseUrl: `${origin}/?api-version=1` }).complete(request);
  expect(paths.slice(-3)).toEqual([
    '/v1/chat/completions?api-version=preview&tenant=a+b',
    '/openai/deployments/acme-big/chat/completions?tenant=1&api-version=2',
    '/openai/deployments/acme-big/chat/completions?api-version=1',
  ]);
});
