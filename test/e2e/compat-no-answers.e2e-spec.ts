import type { Settlement } from '@app/spending';
import { type Behaviour, behaves, chunk, DONE, events, json, usageChunk } from '../fixtures/upstream-double';
import { messages, post, settled, upstream, withMeteredGateway } from './metered-gateway';

/** What came to its end and is no answer is billed where its provider says what it used; and so is what it said behind its last word of that. */

withMeteredGateway();

const USED = { prompt_tokens: 50_000, completion_tokens: 7, total_tokens: 50_007 };
const said = ({ outcome, usageSource, usage: { inputTokens, outputTokens }, model }: Settlement) => [
  outcome,
  usageSource,
  inputTokens,
  outputTokens,
  model.key,
];
const empty: Behaviour = (response) => json(response, 200, { id: 'x', choices: [], usage: USED });

describe('what is no answer and says what it used', () => {
  it.each<[string, boolean, Behaviour]>([
    ['has no choice', false, empty],
    ['is an error', false, (response) => json(response, 200, { error: { message: 'No.' }, usage: USED })],
    ['is whole, where a stream was asked for', true, empty],
    ['is a stream without a choice', true, (response) => events(response, usageChunk(USED)).end(DONE)],
    ['is a stream without an end', true, (response) => events(response, usageChunk(USED)).end()],
    [
      'is a stream that ends with an error',
      true,
      (response) => void events(response, usageChunk(USED), { error: { message: 'No.' } }),
    ],
  ])('is billed so, and not asked for again: %s', async (_, stream, behaviour) => {
    upstream.behaviour = behaviour;
    expect((await post('/chat/completions', { messages, stream })).status).toBe(502);
    expect([settled.map(said), upstream.calls.length]).toEqual([[['failed', 'upstream', 50_000, 7, 'm']], 1]);
  });

  it('gives way to the fallback, which is billed by itself', async () => {
    upstream.behaviour = (response, call) =>
      call.body['model'] === 'narrow' ? named(response, call) : behaves(response, call);
    const named: Behaviour = (response) =>
      json(response, 200, { choices: [], usage: { prompt_tokens: 90, completion_tokens: 7, total_tokens: 97 } });
    expect((await post('/chat/completions', { model: 'narrow', messages })).status).toBe(200);
    expect(settled.map(said)).toEqual([
      ['failed', 'upstream', 90, 7, 'narrow'],
      ['ok', 'upstream', 19, 10, 'm'],
    ]);
  });

  it.each<[string, object, object]>([
    ['/embeddings', { model: 'vectors', input: ['a', 'b'] }, { data: [{ index: 0, embedding: [1] }] }],
    ['/rerank', { model: 'ranks', query: 'q', input: ['a'] }, { results: [] }],
  ])('of %s is billed so, and not asked for again', async (path, body, answer) => {
    upstream.behaviour = (response) => json(response, 200, { ...answer, usage: { total_tokens: 9_000 } });
    expect((await post(path, body)).status).toBe(502);
    expect(settled.map(({ outcome, usage }) => [outcome, usage.inputTokens])).toEqual([['failed', 9_000]]);
    expect(upstream.calls).toHaveLength(1);
  });
});

describe('a stream whose provider says early what it used', () => {
  const early = (output: number) => ({
    usage: { prompt_tokens: 19, completion_tokens: output, total_tokens: 19 + output },
  });
  it.each([
    ['is billed its text where it goes on behind that', 1, ['ok', 'counted', 19, 1_000, 'm']],
    ['is billed what it said where that covers its text', 1_200, ['ok', 'upstream', 19, 1_200, 'm']],
  ])('%s, and no more', async (_, output, expected) => {
    upstream.behaviour = (response) =>
      events(
        response,
        chunk({ role: 'assistant', content: '' }, null, 'm', early(output)),
        ...Array.from({ length: 40 }, () => chunk({ content: 'x'.repeat(100) })),
        chunk({}, 'stop'),
      ).end(DONE);
    const answer = await post('/chat/completions', { messages, stream: true, stream_options: { include_usage: true } });
    expect(await answer.text()).toContain(`"completion_tokens":${expected[3]}`);
    expect(settled.map(said)).toEqual([expected]);
  });

  it.each([{}, { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, { prompt_tokens: -1 }])(
    'is billed so though it reports %j behind that',
    async (lie) => {
      upstream.behaviour = (response) =>
        events(response, chunk({ content: 'a' }), chunk({}, 'stop'), usageChunk(USED), usageChunk(lie)).end(DONE);
      await (await post('/chat/completions', { messages, stream: true })).text();
      expect(settled.map(said)).toEqual([['ok', 'upstream', 50_000, 7, 'm']]);
    },
  );
});
