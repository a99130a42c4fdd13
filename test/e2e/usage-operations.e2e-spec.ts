import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { operate } from '../../apps/operator/src/program';
import { idNumbered, invocation, recordInvocations } from '../fixtures/invocations';
import { until } from '../fixtures/until';
import { type Answer, startTestPlatform, type TestPlatform } from './harness';

interface Compared {
  readonly key: string | null;
  readonly calls: number;
  readonly billed: string;
  readonly restated: string;
  readonly difference: string;
}
interface Restatement {
  readonly id: string;
  readonly prices: object;
  readonly closedAt: string | null;
  readonly totals: Compared & { readonly kept: number };
  readonly models: readonly Compared[];
  readonly apiKeys: readonly Compared[];
}
type LoggedEvent = {
  readonly type: string;
  readonly data: { readonly priceVersion?: string; readonly calls?: readonly object[] };
};

const OPERATIONS = '/api/v1/operations/usage';
const NOVEMBER = { from: '2026-11-01T00:00:00Z', to: '2026-12-01T00:00:00Z' };
const KEY = idNumbered(7);
const folder = mkdtempSync(join(tmpdir(), 'restating-'));
const modelsFile = join(folder, 'models.json');
let platform: TestPlatform;
let operator: string;
let operatorId: string;
let between: string;

const write = (input: string): void =>
  writeFileSync(
    modelsFile,
    JSON.stringify({
      providers: { far: { kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1' } },
      models: [{ key: 'm1', provider: 'far', kind: 'chat', pricing: { currency: 'USD', input, output: '0' } }],
    }),
  );
const events = async (stream: string): Promise<readonly LoggedEvent[]> =>
  (await platform.call<{ items: LoggedEvent[] }>(`/api/v1/audit/events?stream=${stream}&order=asc&limit=100`)).body
    .items;

beforeAll(async () => {
  write('10');
  platform = await startTestPlatform({ listen: true, environment: { MODELS_FILE: modelsFile } });
  ({ key: operator, keyId: operatorId } = await platform.newCaller({
    role: 'operator',
    permissions: ['operations'],
    allAgents: false,
  }));
  between = new Date().toISOString();
  write('4');
  expect((await platform.call('/api/v1/operations/models/reload', { method: 'POST', key: operator })).status).toBe(200);
  const tokens = { inputTokens: 1_000_000, cacheReadTokens: 0, outputTokens: 0 };
  await recordInvocations(platform.platform, [
    ...Array.from({ length: 600 }, (_, index) =>
      invocation(1_000 + index, { ...tokens, at: '2026-11-10T00:00:00.000Z', cost: '10000000000', apiKeyId: KEY }),
    ),
    invocation(2_000, { ...tokens, at: '2026-11-11T00:00:00.000Z', cost: '10000000000' }),
    invocation(2_001, { at: '2026-11-12T00:00:00.000Z', model: 'unknown', cost: '5' }),
    invocation(2_002, { ...tokens, at: '2026-10-31T23:59:59.999Z' }),
    invocation(2_003, { ...tokens, at: '2026-11-13T00:00:00.000Z', currency: 'EUR' }),
  ]);
}, 60_000);
afterAll(async () => {
  await platform.stop();
  rmSync(folder, { recursive: true });
});

const restate = (body: object, headers = {}): Promise<Answer<Restatement>> =>
  platform.call(`${OPERATIONS}/restatements`, { method: 'POST', key: operator, body, headers });
const line = ({ key, calls, billed, restated, difference }: Compared) => [key, calls, billed, restated, difference];

describe('a restatement', () => {
  it('compares what was billed with what the present prices say, by model and key', async () => {
    const { status, headers, body } = await restate(NOVEMBER);
    expect([status, headers['location']]).toEqual([201, `${OPERATIONS}/restatements/${body.id}`]);
    expect(body).toMatchObject({
      from: '2026-11-01T00:00:00.000Z',
      to: '2026-12-01T00:00:00.000Z',
      currency: 'USD',
      totals: { calls: 602, kept: 1, billed: '6010.000000005', restated: '2404.000000005', difference: '-3606' },
    });
    expect(body.models.map(line)).toEqual([
      ['m1', 601, '6010', '2404', '-3606'],
      ['unknown', 1, '0.000000005', '0.000000005', '0'],
    ]);
    expect(body.apiKeys.map(line)).toEqual([
      [KEY, 600, '6000', '2400', '-3600'],
      [null, 2, '10.000000005', '4.000000005', '-6'],
    ]);
  });

  it('is read again, and leaves what was billed as it is', async () => {
    const { body } = await restate(NOVEMBER);
    expect((await platform.call(`${OPERATIONS}/restatements/${body.id}`, { key: operator })).body).toEqual(body);
    expect(
      (await platform.call<{ items: Restatement[] }>(`${OPERATIONS}/restatements?limit=1`, { key: operator })).body
        .items,
    ).toEqual([body]);
    expect((await platform.call(`${OPERATIONS}/restatements/${KEY}`, { key: operator })).status).toBe(404);
    const report = await platform.call<{ totals: object }>(
      `/api/v1/core/usage?from=2026-11-01T00:00:00Z&to=2026-12-01T00:00:00Z`,
    );
    expect(report.body.totals).toMatchObject({ calls: 602, cost: '6010.000000005' });
  });

  it('stands in the log as a ledger of its own, in parts, written once for a command', async () => {
    const headers = { 'idempotency-key': 'once' };
    const [first, second] = [await restate(NOVEMBER, headers), await restate(NOVEMBER, headers)];
    expect([second.status, second.body.id]).toEqual([201, first.body.id]);
    const ledger = await events(`restatement-${first.body.id}`);
    expect(ledger.map(({ type }) => type)).toEqual([
      'RestatementBegun',
      ...Array.from({ length: 3 }, () => 'InvocationsRestated'),
      'RestatementClosed',
    ]);
    expect(ledger.flatMap(({ data }) => (Array.isArray(data.calls) ? data.calls : []))).toHaveLength(602);
    expect((await restate({ ...NOVEMBER, prices: { at: between } }, headers)).body).toMatchObject({
      status: 422,
      code: 'idempotency_key_reused',
    });
  });

  it('takes the prices of a time, or the versions that are named', async () => {
    expect((await restate({ ...NOVEMBER, prices: { at: between } })).body.totals).toMatchObject({
      restated: '6010.000000005',
      difference: '0',
      kept: 1,
    });
    const [v1, v2] = (await events('model-m1')).map(({ data }) => String(data.priceVersion));
    expect((await restate({ ...NOVEMBER, prices: { m1: v2 } })).body.totals).toMatchObject({
      difference: '-3606',
      kept: 1,
    });
    expect((await restate({ ...NOVEMBER, prices: { m1: v1 } })).body).toMatchObject({
      prices: { m1: v1 },
      totals: { difference: '0' },
    });
    expect((await restate({ ...NOVEMBER, prices: { other: v1 } })).body).toMatchObject({
      status: 400,
      code: 'invalid_body',
      errors: [{ path: 'prices.other', code: 'unknown_price_version' }],
    });
  });

  it.each<[object, string]>([
    [{ from: NOVEMBER.to, to: NOVEMBER.from }, 'from'],
    [{ to: NOVEMBER.to }, 'from'],
    [{ ...NOVEMBER, prices: 'future' }, 'prices'],
  ])('names what is wrong in %j', async (body, path) =>
    expect((await restate(body)).body).toMatchObject({ status: 400, code: 'invalid_body', errors: [{ path }] }),
  );

  it('is refused while the records of usage are behind the log, and then has all of them', async () => {
    const september = { from: '2026-09-01T00:00:00Z', to: '2026-10-01T00:00:00Z' };
    const store = platform.platform.app.get<ReadStore>(READ_STORE);
    const commit = store.commit.bind(store);
    const { promise: caughtUp, resolve: catchUp } = Promise.withResolvers<void>();
    const late = jest.spyOn(store, 'commit').mockImplementation(async (batch) => {
      if (batch.view === 'invocations') await caughtUp;
      return commit(batch);
    });
    const recorded = recordInvocations(platform.platform, [invocation(3_000, { at: '2026-09-10T00:00:00.000Z' })]);
    await until(
      async () =>
        (await platform.call('/api/v1/audit/events?type=InvocationsRecorded&order=desc&limit=1')).text.includes(
          idNumbered(3_000),
        ),
      'the record in the log',
    );
    const replay = { ...september, limit: { scope: { type: 'instance' }, amount: '0', window: 'day' } };
    const answers = await Promise.all([
      restate(september),
      platform.call(`${OPERATIONS}/what-if`, { method: 'POST', key: operator, body: replay }),
    ]);
    catchUp();
    await recorded;
    late.mockRestore();
    expect(answers.map(({ status, body }) => [status, 'code' in body && body['code']])).toEqual([
      [503, 'view_unavailable'],
      [503, 'view_unavailable'],
    ]);
    expect((await restate(september)).body.totals).toMatchObject({ calls: 1 });
  });

  it('is for operators', async () => {
    const member = await platform.newCaller();
    for (const path of ['restatements', 'what-if'])
      expect(
        (await platform.call(`${OPERATIONS}/${path}`, { method: 'POST', key: member.key, body: NOVEMBER })).status,
      ).toBe(403);
  });
});

describe('what if there had been a limit', () => {
  const whatIf = (limit: object, period: object = NOVEMBER) =>
    platform.call<{ affected: { calls: number } }>(`${OPERATIONS}/what-if`, {
      method: 'POST',
      key: operator,
      body: { ...period, limit },
    });

  it('says whom it would have refused, and writes nothing', async () => {
    const recorded = async () =>
      (
        await platform.call<{ items: { id: string }[] }>(`/api/v1/audit/events?limit=100&actor=key:${operatorId}`)
      ).body.items.map(({ id }) => id);
    const before = await recorded();
    expect(before.length).toBeGreaterThan(0);
    const { status, body } = await whatIf({ scope: { type: 'apiKey' }, amount: '5990', window: 'day' });
    expect([status, body]).toEqual([
      200,
      {
        from: '2026-11-01T00:00:00.000Z',
        to: '2026-12-01T00:00:00.000Z',
        currency: 'USD',
        outcome: 'refused',
        calls: 600,
        cost: '6000',
        affected: { calls: 1, cost: '10', firstAt: '2026-11-10T00:00:00.000Z' },
        saved: '10',
        includedCost: '0',
        users: [{ key: idNumbered(1), calls: 1, cost: '10', firstAt: '2026-11-10T00:00:00.000Z' }],
        apiKeys: [{ key: KEY, calls: 1, cost: '10', firstAt: '2026-11-10T00:00:00.000Z' }],
        models: [{ key: 'm1', calls: 1, cost: '10', firstAt: '2026-11-10T00:00:00.000Z' }],
      },
    ]);
    expect(await recorded()).toEqual(before);
  });

  it('is about all, or about one', async () => {
    expect((await whatIf({ scope: { type: 'instance' }, amount: '6000', window: 'total' })).body).toMatchObject({
      calls: 602,
      affected: { calls: 2 },
    });
    expect(
      (await whatIf({ scope: { type: 'apiKey', id: idNumbered(8) }, amount: '0', window: 'week' })).body,
    ).toMatchObject({ calls: 0, affected: { calls: 0, firstAt: null } });
    expect(
      (await whatIf({ scope: { type: 'user', id: idNumbered(1) }, amount: '0', window: 'week', action: 'warn' })).body,
    ).toMatchObject({ outcome: 'warned', affected: { calls: 602 }, saved: '0' });
  });

  it('takes amounts as numbers, too', async () => {
    const limit = { scope: { type: 'apiKey' }, window: 'day' };
    const inWords = await whatIf({ ...limit, amount: '5990', includedAmount: '0.5' });
    expect(inWords.body).toMatchObject({ affected: { calls: 1 }, includedCost: '10' });
    expect((await whatIf({ ...limit, amount: 5990, includedAmount: 0.5 })).body).toEqual(inWords.body);
  });

  it('counts what was spent before it in the same window', async () => {
    const period = { from: '2026-11-11T00:00:00Z', to: NOVEMBER.to };
    expect((await whatIf({ scope: { type: 'instance' }, amount: '6000', window: 'month' }, period)).body).toMatchObject(
      { calls: 2, affected: { calls: 2 } },
    );
    expect((await whatIf({ scope: { type: 'instance' }, amount: '6000', window: 'day' }, period)).body).toMatchObject({
      calls: 2,
      affected: { calls: 0 },
    });
  });

  it('names what is wrong', async () => {
    expect((await whatIf({ scope: { type: 'instance', id: KEY }, amount: '1', window: 'day' })).body).toMatchObject({
      status: 400,
      errors: [{ path: 'limit.scope.id' }],
    });
    expect(
      (await whatIf({ scope: { type: 'planet' }, amount: '-1', window: 'day', timeZone: 'Mars/Base' })).body,
    ).toMatchObject({
      status: 400,
      errors: expect.arrayContaining([
        expect.objectContaining({ path: 'limit.amount' }),
        expect.objectContaining({ path: 'limit.timeZone' }),
      ]) as unknown,
    });
  });
});

describe('the command line', () => {
  const operates = async (...words: readonly string[]) => {
    const out: string[] = [];
    const err: string[] = [];
    const code = await operate(['--url', platform.url, '--api-key', operator, ...words], {
      stdout: { write: (text: string) => out.push(text) },
      stderr: { write: (text: string) => err.push(text) },
    });
    return { code, out: out.join(''), err: err.join('') };
  };

  it('restates a period, and shows it again', async () => {
    const { code, out } = await operates('restate', '--from', '2026-11-01', '--to', '2026-12-01', '--at', between);
    expect(code).toBe(0);
    expect(out).toMatch(/MODEL\s+CALLS\s+BILLED\s+RESTATED\s+DIFFERENCE\nm1\s+601\s+6010\s+6010\s+0\n/);
    const [made] = (await operates('--json', 'restate', 'list')).out
      .split('\n')
      .flatMap((text) => (text === '' ? [] : (JSON.parse(text) as Restatement[])));
    expect((await operates('restate', 'show', made?.id ?? '')).out).toBe(out);
    const [v1] = (await events('model-m1')).map(({ data }) => String(data.priceVersion));
    expect(
      JSON.parse(
        (await operates('--json', 'restate', '--from', '2026-11-01', '--to', '2026-12-01', '--price', `m1=${v1}`)).out,
      ),
    ).toMatchObject({ prices: { m1: v1 }, totals: { calls: 602 } });
    expect([(await operates('restate')).code, (await operates('restate', '--from', 'soon')).code]).toEqual([2, 2]);
  });

  it('tries a limit on the past', async () => {
    const { code, out } = await operates(
      'what-if',
      '--from',
      '2026-11-01',
      '--to',
      '2026-12-01',
      '--scope',
      'apiKey',
      '--amount',
      '5990',
      '--window',
      'month',
    );
    expect([code, out]).toEqual([
      0,
      expect.stringContaining(
        '1 would have been refused, the first at 2026-11-10T00:00:00.000Z; 10 USD would not have been spent.',
      ),
    ]);
    expect(
      (await operates('what-if', '--from', '2026-11-01', '--scope', `apiKey:${idNumbered(8)}`, '--amount', '1')).out,
    ).toContain('None would have been refused.');
    expect((await operates('what-if', '--from', '2026-11-01', '--scope', 'planet', '--amount', '1')).code).toBe(2);
  });
});
