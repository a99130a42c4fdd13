import { until } from '../../../../test/fixtures/until';
import {
  type Behaviour,
  json,
  startUpstreamDouble,
  type UpstreamDouble,
} from '../../../../test/fixtures/upstream-double';
import type { ModelDescription, ProviderDescription } from '../catalogue';
import type { ModelKind } from '../pricing';
import type { Exchange } from './exchange';
import { UpstreamFailure, type UpstreamWork } from './failure';
import { Upstream } from './upstream';
import { type Attempt, type Attempting, UpstreamCall } from './upstream-call';

let double: UpstreamDouble;
let upstream: Upstream;
beforeAll(async () => void (double = await startUpstreamDouble()));
afterAll(() => double.stop());
beforeEach(() => {
  upstream = new Upstream(
    'acme',
    { kind: 'openai', baseUrl: double.baseUrl, timeoutMs: 5_000 } as ProviderDescription,
    undefined,
  );
  double.calls.length = 0;
});
afterEach(() => {
  jest.restoreAllMocks();
  return upstream.close();
});

const sent = ({ route, send }: Attempt): Promise<Exchange> =>
  send('chat/completions', JSON.stringify({ model: route.model.modelId }));
const wellRead: Attempting<string> = async (attempt) => {
  const exchange = await sent(attempt);
  if (String(await exchange.whole()) !== '"good"') throw new UpstreamFailure('broken');
  return attempt.route.model.modelId;
};
const call = async (
  behaviour: Behaviour,
  models: readonly string[] = ['a'],
  read = wellRead,
  kind: ModelKind = 'chat',
) => {
  double.behaviour = behaviour;
  const made = new UpstreamCall(models.map((modelId) => ({ model: { modelId, kind } as ModelDescription, upstream })));
  return made
    .answer(read)
    .catch((error: unknown) => (error as UpstreamFailure).kind)
    .finally(() => made.done());
};
const answers =
  (status: number, body: string): Behaviour =>
  (response) =>
    json(response, status, body);
const GOOD = answers(200, '"good"');
const BAD = answers(200, '"bad"');

describe('a call of a provider', () => {
  it('whose answer cannot be read is repeated, then made of the fallback', async () => {
    let bad = 2;
    expect([await call((response, seen) => (bad-- > 0 ? BAD : GOOD)(response, seen)), double.calls.length]).toEqual([
      'a',
      3,
    ]);
    expect(await call((response, seen) => (seen.body['model'] === 'a' ? BAD : GOOD)(response, seen), ['a', 'b'])).toBe(
      'b',
    );
  });

  it('that fails with 2xx again and again opens the circuit', async () => {
    for (let failed = 0; failed < 10; failed += 1) expect(await call(BAD)).toBe('broken');
    expect([upstream.circuit, await call(GOOD)]).toEqual(['open', 'open']);
  });

  it('of one kind of model says nothing about the others of its provider', async () => {
    for (let failed = 0; failed < 10; failed += 1) await call(BAD, ['r'], wellRead, 'reranker');
    expect([upstream.circuit, await call(GOOD, ['r'], wellRead, 'reranker'), await call(GOOD)]).toEqual([
      'open',
      'open',
      'a',
    ]);
  });

  it.each([400, 429, 401])('that is answered with %d says nothing about its failures before', async (status) => {
    for (let failed = 0; failed < 9; failed += 1) upstream.breaker('chat').failed();
    await call(answers(status, '{}'));
    expect(upstream.circuit).toBe('closed');
    upstream.breaker('chat').failed();
    expect(upstream.circuit).toBe('open');
  });

  const atWork = { model: { modelId: 'a' }, ms: expect.any(Number) as number };
  it.each<[string, Behaviour, object | undefined]>([
    ['rejected to answer', answers(500, '{}'), undefined],
    ['is still silent', () => undefined, atWork],
    ['is in the middle of a rejection', (response) => void response.writeHead(500).write('{'), undefined],
    ['is in the middle of an answer', (response) => void response.writeHead(200).write('"'), atWork],
  ])(
    'whose caller leaves when its provider %s tells whether a model was answering, and which',
    async (does, behaviour, work) => {
      jest.spyOn(Math, 'random').mockReturnValue(1);
      double.behaviour = behaviour;
      const send = upstream.send.bind(upstream);
      let exchange: Exchange | undefined;
      jest.spyOn(upstream, 'send').mockImplementation((...given) => (exchange = send(...given)));
      const made = new UpstreamCall([{ model: { modelId: 'a' } as ModelDescription, upstream }]);
      const failure = made.answer(wellRead).catch((error: unknown) => error);
      await until(() => double.calls.length === 1, 'the call');
      if (does !== 'is still silent') await exchange?.started;
      made.abort();
      const { kind, facts } = (await failure) as UpstreamFailure;
      expect([kind, facts]).toEqual(['aborted', work === undefined ? {} : { work }]);
      expect(double.calls).toHaveLength(1);
    },
  );

  it('that is left tells how long its provider has had it, and half a second more until that one sees it', async () => {
    double.behaviour = () => undefined;
    const startedAt = performance.now();
    const made = new UpstreamCall([{ model: { modelId: 'a' } as ModelDescription, upstream }]);
    const failure = made.answer(wellRead).catch((error: unknown) => error as UpstreamFailure);
    await until(() => double.calls.length === 1, 'the call');
    await new Promise((resolve) => setTimeout(resolve, 100));
    made.abort();
    const { ms } = ((await failure) as UpstreamFailure).facts.work as UpstreamWork;
    expect(ms).toBeGreaterThanOrEqual(600);
    expect(ms).toBeLessThanOrEqual(500 + performance.now() - startedAt);
  });

  it('whose answers are cut tells how long its provider had for all of them, also where a fallback does no better', async () => {
    const cut: Behaviour = (response, { body }) => {
      if (body['model'] !== 'a') return json(response, 400, '{}');
      response.writeHead(200).write('"');
      setTimeout(() => response.destroy(), 50).unref();
    };
    double.behaviour = cut;
    const made = new UpstreamCall(['a', 'b'].map((modelId) => ({ model: { modelId } as ModelDescription, upstream })));
    const { kind, facts } = (await made.answer(wellRead).catch((error: unknown) => error)) as UpstreamFailure;
    made.done();
    expect([kind, facts.work?.model]).toEqual(['rejected', { modelId: 'a' }]);
    expect(facts.work?.ms).toBeGreaterThanOrEqual(3 * 45);
  });

  it('whose caller leaves behind the deadline of the first asks no fallback', async () => {
    const hasty = new Upstream(
      'hasty',
      { kind: 'openai', baseUrl: double.baseUrl, timeoutMs: 500 } as ProviderDescription,
      undefined,
    );
    const made = new UpstreamCall(
      [hasty, upstream].map((each) => ({ model: { modelId: 'a' } as ModelDescription, upstream: each })),
    );
    jest.spyOn(Math, 'random').mockReturnValue(1);
    double.behaviour = (response) => {
      // The deadline closes it; the caller leaves in the pause that follows.
      response.once('close', () => made.abort());
      response.writeHead(500).write('{');
    };
    const failure = made.answer(wellRead).catch((error: unknown) => error as UpstreamFailure);
    expect([((await failure) as UpstreamFailure).kind, double.calls.length]).toEqual(['aborted', 1]);
    await hasty.close();
  });

  it('that succeeds clears them, as soon as its answer shows what it is', async () => {
    for (let failed = 0; failed < 9; failed += 1) upstream.breaker('chat').failed();
    await call(GOOD, ['a'], async (attempt) => {
      await sent(attempt);
      attempt.report();
      throw new UpstreamFailure('rejected');
    });
    upstream.breaker('chat').failed();
    expect(upstream.circuit).toBe('closed');
  });
});
