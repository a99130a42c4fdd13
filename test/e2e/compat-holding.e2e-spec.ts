import { DomainError } from '@app/kernel';
import OpenAI from 'openai';
import { ADMIN_KEY } from './harness';
import { BASE, begin, begun, messages, platform, post, upstream, withMeteredGateway } from './metered-gateway';

withMeteredGateway();

it('holds the input and the most that may come', async () => {
  await post('/chat/completions', { messages, max_tokens: 7 });
  await post('/chat/completions', { messages });
  await post('/chat/completions', { messages, max_tokens: 1_000_000_000 });
  expect(begun.map(({ estimate }) => [estimate.inputTokens, estimate.outputTokens])).toEqual([
    [6, 7],
    [6, 16_384],
    [6, 131_072],
  ]);
});

it('holds as much as any model that may answer takes in, and what was counted where nobody says how much that is', async () => {
  const long = [{ role: 'user', content: 'x'.repeat(4_000) }];
  await post('/chat/completions', { model: 'narrow', messages: long, max_tokens: 1_000 });
  await post('/chat/completions', { messages: [{ role: 'user', content: 'x'.repeat(800_000) }], max_tokens: 1 });
  expect(begun.map(({ estimate, mostInput }) => [estimate.inputTokens, mostInput, estimate.outputTokens])).toEqual([
    [1_004, 4_004, 1_000],
    [200_004, 200_004, 1],
  ]);
});

it('holds as much for a file as may be in it, and bills whoever leaves about what is', async () => {
  const data = `data:application/pdf;base64,${'A'.repeat(1_000_000)}`;
  const content = [{ type: 'file', file: { filename: 'f.pdf', file_data: data } }];
  await post('/chat/completions', { messages: [{ role: 'user', content }], max_tokens: 1 });
  expect(begun.map(({ estimate, mostInput }) => [estimate.inputTokens, mostInput])).toEqual([[7_506, 131_072]]);
});

it('names all that may answer, so that the dearest is held', async () => {
  await post('/chat/completions', { model: 'away', messages });
  await post('/embeddings', { model: 'vectors', input: 'a' });
  expect(begun.map(({ mayAnswer }) => mayAnswer?.map(({ key }) => key))).toEqual([['away', 'm'], ['vectors']]);
});

it('rejects a used-up limit so that the official client does not try again', async () => {
  begin.mockImplementation(() => Promise.reject(new DomainError('usage_limit_exceeded', { retryAfterSeconds: 3_600 })));
  const client = new OpenAI({ apiKey: ADMIN_KEY, baseURL: `${platform.url}${BASE}` });
  const calls = begin.mock.calls.length;
  await expect(
    client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true }),
  ).rejects.toMatchObject({ status: 429, type: 'rate_limit_error', code: 'usage_limit_exceeded' });
  expect([begin.mock.calls.length - calls, upstream.calls.length]).toEqual([1, 0]);
});

it('drops what is not supported where the instance says so, and names it', async () => {
  begin.mockRestore();
  const response = await post('/chat/completions', {
    messages,
    n: 2,
    logprobs: true,
    response_format: { type: 'text' },
  });
  expect([response.status, response.headers.get('x-dropped-parameters'), upstream.calls[0]?.body]).toEqual([
    200,
    'n, logprobs',
    { model: 'm', messages },
  ]);
});
