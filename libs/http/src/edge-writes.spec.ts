import { connect } from 'node:net';
import { calls, clock, KEY, keys, set, state } from '../../../test/fixtures/edge-of-things';
import { until } from '../../../test/fixtures/until';
import { served, withThings } from '../../../test/fixtures/served-things';

withThings();

const post = (body: unknown, headers: Record<string, string> = {}, key = KEY) =>
  served.call({ method: 'POST', url: '/things', body, headers, key });

describe('failures', () => {
  it('says nothing of an unforeseen error but the request id', async () => {
    const { status, body } = await served.call({ url: '/things/broken', headers: { 'x-request-id': 'r1' } });
    expect([status, body]).toEqual([
      500,
      {
        type: 'urn:problem:internal',
        title: 'Internal error',
        status: 500,
        code: 'internal',
        detail: 'Something failed on our side. Give the request id to the operator.',
        requestId: 'r1',
      },
    ]);
  });

  it('says of a write that met an unavailable log whether it may have happened', async () => {
    const { status, body, headers } = await post({ name: 'away' });
    expect([status, body?.['outcome'], headers['retry-after']]).toEqual([503, 'unknown', '1']);
  });
});

describe('writes', () => {
  it('answer with etag, position and location, and say when a view is late', async () => {
    expect((await post({ name: 'a' })).headers).toMatchObject({
      etag: '"3"',
      'x-log-position': '7',
      location: '/things/1',
    });
    set.late = true;
    expect((await post({ name: 'a' })).headers).toMatchObject({ 'x-view-late': 'true' });
  });

  it('answer, with what is shown once, when the views cannot be asked: they have happened', async () => {
    set.away = true;
    const { status, body, headers } = await post({ name: 'a' }, { 'idempotency-key': 'k' });
    expect([status, body, headers]).toMatchObject([
      201,
      { id: '1', revision: 3, secret: 's3cret' },
      { 'x-view-late': 'true', 'x-log-position': '7', etag: '"3"' },
    ]);
    set.away = false;
    expect((await post({ name: 'a' }, { 'idempotency-key': 'k' })).status).toBe(201);
    expect(calls).toHaveLength(1);
  });

  it('answer when the answer cannot be kept, and run again under the same command id', async () => {
    set.forgetful = true;
    const { status, body } = await post({ name: 'a' }, { 'idempotency-key': 'k' });
    expect([status, body?.['secret']]).toEqual([201, 's3cret']);
    set.forgetful = false;
    expect((await post({ name: 'a' }, { 'idempotency-key': 'k' })).status).toBe(201);
    expect(calls.map(({ commandId }) => commandId)).toEqual([calls[0]?.commandId, calls[0]?.commandId]);
  });

  it('reject a body where the handler takes none', async () => {
    const { status, body } = await served.call({ method: 'DELETE', body: { force: true } });
    expect([status, body?.['code'], calls.length]).toEqual([400, 'unknown_field', 0]);
  });

  it('carry If-Match and the actor into the command', async () => {
    await post({ name: 'a' }, { 'if-match': '"4"' });
    expect(calls[0]).toMatchObject({ ifRevision: 4, actor: 'key:1', onBehalfOf: 'user:1' });
    for (const malformed of ['four', '"4', '"4", "5"'])
      expect((await post({ name: 'a' }, { 'if-match': malformed })).status).toBe(400);
    for (const foreign of ['W/"4"', '"04"', '"4444444444444444"', '"abc"', '""'])
      expect((await post({ name: 'a' }, { 'if-match': foreign })).status).toBe(412);
  });

  it('happen once under an Idempotency-Key, with the same answer but without the secret', async () => {
    const first = await post({ name: 'a' }, { 'idempotency-key': 'k' });
    const second = await post({ name: 'a' }, { 'idempotency-key': 'k' });
    const { secret, ...shown } = first.body as Record<string, unknown>;
    expect([secret, second.status, second.body, second.headers['etag']]).toEqual(['s3cret', 201, shown, '"3"']);
    expect(calls).toHaveLength(1);
    expect(JSON.stringify([...state])).not.toContain('"a"');
    // A process of an earlier release, which repeats it, sends what is kept as it is.
    expect([...state.values()]).toMatchObject([
      { answer: { headers: { 'content-type': 'application/json; charset=utf-8' } } },
    ]);
  });

  it('reject another body under the key; another caller has keys of their own', async () => {
    await post({ name: 'a' }, { 'idempotency-key': 'k' });
    expect((await post({ name: 'b' }, { 'idempotency-key': 'k' })).body?.['code']).toBe('idempotency_key_reused');
    expect((await post({ name: 'b' }, { 'idempotency-key': 'k' }, 'ap_other')).status).toBe(201);
  });

  it('reject a repeat while the first still runs', async () => {
    let open = () => undefined as void;
    set.gate = new Promise((resolve) => (open = resolve));
    const first = post({ name: 'a' }, { 'idempotency-key': 'k' });
    await Promise.resolve();
    await until(() => state.size > 0);
    expect((await post({ name: 'a' }, { 'idempotency-key': 'k' })).body?.['code']).toBe('request_in_progress');
    open();
    expect((await first).status).toBe(201);
  });

  it('are kept for a repeat where their client left before the answer', async () => {
    let open = () => undefined as void;
    set.gate = new Promise((resolve) => (open = resolve));
    const left = connect(await served.port(), '127.0.0.1');
    const body = '{"name":"a"}';
    left.write(
      `POST /things HTTP/1.1\r\nhost: h\r\nx-api-key: ${KEY}\r\nidempotency-key: k\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await until(() => state.size > 0);
    left.destroy();
    open();
    await until(() => [...state.values()].some((kept) => (kept as { readonly answer: unknown }).answer !== null));
    expect((await post({ name: 'a' }, { 'idempotency-key': 'k' })).status).toBe(201);
    expect(calls).toHaveLength(1);
  });

  it('run again under the same command id when the outcome is unknown, and afresh when they were rejected', async () => {
    await post({ name: 'away' }, { 'idempotency-key': 'k' });
    // The second did nothing, and the first may have.
    expect((await post({ name: 'away' }, { 'idempotency-key': 'k' })).body).toMatchObject({ outcome: 'unknown' });
    expect(calls[0]?.commandId).toBe(calls[1]?.commandId);
    expect((await post({ name: 'away' }, { 'idempotency-key': 'm' })).body).toMatchObject({ outcome: 'none' });
    expect((await post({ name: '' }, { 'idempotency-key': 'l' })).status).toBe(400);
    expect((await post({ name: 'a' }, { 'idempotency-key': 'l' })).status).toBe(201);
  });

  it('answer a repeated deletion as the first, forget after a day, and show nothing that was erased', async () => {
    const remove = () => served.call({ method: 'DELETE', headers: { 'idempotency-key': 'd' } });
    expect([(await remove()).status, (await remove()).status, calls.length]).toEqual([204, 204, 1]);
    clock.advance(24 * 60 * 60_000 + 1);
    expect([(await remove()).status, calls.length]).toEqual([204, 2]);
    await post({ name: 'a' }, { 'idempotency-key': 'k' });
    keys.clear();
    expect((await post({ name: 'a' }, { 'idempotency-key': 'k' })).status).toBe(404);
  });
});
