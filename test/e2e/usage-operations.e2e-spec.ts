import { READ_STORE, type ReadStore } from '@app/read-store';
import { operate } from '../../apps/operator/src/program';
import { idNumbered, invocation, recordInvocations } from '../fixtures/invocations';
import { until } from '../fixtures/until';
import type { Answer } from './harness';
import { between, KEY, NOVEMBER, OPERATIONS, operator, platform, withInvocations } from './restating-world';

withInvocations();

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

const events = async (stream: string): Promise<readonly LoggedEvent[]> =>
  (await platform.call<{ items: LoggedEvent[] }>(`/api/v1/audit/events?stream=${stream}&order=asc&limit=100`)).body
    .items;

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

  it('is rejected while the records of usage are behind the log, and then has all of them', async () => {
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
