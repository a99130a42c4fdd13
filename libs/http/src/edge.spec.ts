import { type Call, calls, KEY, serveThings, set } from '../../../test/fixtures/edge-of-things';
import { makeLogger } from './logging';
import { served, withThings } from '../../../test/fixtures/served-things';

withThings();

const code = async (given: Call) => {
  const { status, body } = await served.call(given);
  return [status, body?.['code']];
};

describe('the guard', () => {
  it('shows a row to a caller with the permission, and only the fields of its view', async () => {
    const { status, body, headers } = await served.call({ headers: { 'x-request-id': 'mine-1' } });
    expect([status, body, headers['x-request-id']]).toEqual([200, { id: 'known', name: 'n' }, 'mine-1']);
  });

  const WRONG =
    'The API key in the header x-api-key is not valid. It is unknown, revoked or expired, or its user is suspended. Check it, or ask an admin for a new one.';
  const ELSEWHERE =
    'Send the API key in the header x-api-key, and no authorization header. This API does not read authorization.';

  it.each([
    ['absent', '', {}, 'The request has no API key. Send one in the header x-api-key.'],
    ['unknown', 'ap_wrong', {}, WRONG],
    ['a list', `${KEY}, ap_other`, {}, WRONG],
    ['endless', 'a'.repeat(65_536), {}, WRONG],
    ['SQL', "' OR '1'='1", {}, WRONG],
    ['beside a bearer', KEY, { authorization: `Bearer ${KEY}` }, ELSEWHERE],
    ['bearer alone', '', { authorization: `Bearer ${KEY}` }, ELSEWHERE],
  ])(
    'rejects a credential that is %s with one body for all that are wrong, and says where it belongs',
    async (_name, key, headers, detail) => {
      const { body } = await served.call({ key, headers: headers as Record<string, string> });
      expect({ ...body, requestId: '' }).toEqual({
        type: 'urn:problem:unauthenticated',
        title: 'Unauthenticated',
        status: 401,
        code: 'unauthenticated',
        detail,
        requestId: '',
      });
    },
  );

  it('asks for the credential before it looks at the body, and for the permission', async () => {
    expect(await code({ method: 'POST', url: '/things', raw: '{', key: 'ap_wrong' })).toEqual([401, 'unauthenticated']);
    expect(await code({ method: 'POST', url: '/things', raw: '{', key: 'ap_narrow' })).toEqual([403, 'forbidden']);
  });

  it.each(['json', ';', '', 'a b/c', 'application/json, text/plain', 'text/plain'])(
    'asks for the credential and the permission before it rejects the content type "%s"',
    async (type) => {
      const sent = { method: 'POST', url: '/things', raw: 'x', headers: { 'content-type': type } };
      expect(await code({ ...sent, key: 'ap_wrong' })).toEqual([401, 'unauthenticated']);
      expect(await code({ ...sent, key: 'ap_narrow' })).toEqual([403, 'forbidden']);
      expect(await code(sent)).toEqual([415, 'unsupported_media_type']);
    },
  );

  it('rejects a handler that declares no permission', async () => {
    expect(await code({ method: 'PUT', body: {} })).toEqual([403, 'forbidden']);
  });

  it('rejects a handler of a controller that is not documented, whatever it declares', async () => {
    expect(await code({ url: '/undocumented' })).toEqual([403, 'forbidden']);
  });

  it.each(['/things/%6bnown', '/%74hings/known'])('guards the handler however its path is written: %s', async (url) => {
    expect(await code({ url, key: '' })).toEqual([401, 'unauthenticated']);
  });

  it.each(['//things/known', '/things;x/known', '/THINGS/known', '/things%2fknown', '/things/../secret', '/none'])(
    'knows no other spelling of a path: %s',
    async (url) => {
      expect(await code({ url })).toEqual([404, 'not_found']);
    },
  );

  it('answers a path with a slash behind it like the path without, and asks for the same', async () => {
    const ids = { headers: { 'x-request-id': 'same' } };
    expect((await served.call({ url: '/things/known/', ...ids })).body).toEqual(
      (await served.call({ url: '/things/known', ...ids })).body,
    );
    expect(await code({ url: '/things/known/', key: '' })).toEqual([401, 'unauthenticated']);
    expect((await served.call({ method: 'PATCH', url: '/things/' })).headers['allow']).toBe('GET, HEAD, POST');
  });

  it('answers other methods of a path with 405 and the ones it takes', async () => {
    const { status, headers, body } = await served.call({ method: 'PATCH', url: '/things' });
    expect([status, headers['allow'], body?.['code']]).toEqual([405, 'GET, HEAD, POST', 'method_not_allowed']);
  });

  it('takes the last word of a path that other methods have for no id', async () => {
    const { status, headers, body } = await served.call({ url: '/things/import' });
    expect([status, headers['allow'], body?.['code']]).toEqual([405, 'POST', 'method_not_allowed']);
    expect(await code({ url: '/things/import', key: '' })).toEqual([401, 'unauthenticated']);
    expect(await code({ url: '/things/imported' })).toEqual([404, 'not_found']);
  });
});

describe('bodies', () => {
  const deep = (depth: number) => '{"name":'.concat('['.repeat(depth), ']'.repeat(depth), '}');

  it.each([
    ['broken', '{"name":', 'invalid_body', ''],
    ['absent', '', 'invalid_body', ''],
    ['null', 'null', 'invalid_body', ''],
    ['an array', '[]', 'invalid_body', ''],
    ['text', '"x"', 'invalid_body', ''],
    ['of a wrong type', '{"name":1}', 'invalid_body', 'name'],
    ['with an unknown field', '{"name":"a","tags":[{"id":"1","x":1}]}', 'unknown_field', 'tags[0].x'],
    ['with one after a wrong field', '{"name":1,"more":2}', 'unknown_field', 'more'],
    ['65 deep', deep(64), 'invalid_body', ''],
    ['a million deep', deep(1_000_00), 'invalid_body', ''],
    ['with a prototype key', '{"name":"a","__proto__":{}}', 'invalid_body', '__proto__'],
    ['with an escaped prototype key', '{"name":"a","\\u005f_proto__":{}}', 'invalid_body', '__proto__'],
    ['with a constructor', '{"constructor":{"prototype":{}}}', 'invalid_body', 'constructor'],
    ['with NUL', '{"name":"a\\u0000"}', 'invalid_body', 'name'],
    ['with a lone surrogate', '{"tags":[{"id":"\\ud800"}]}', 'invalid_body', 'tags[0].id'],
    ['with a number beyond all', '{"name":1e309}', 'invalid_body', 'name'],
  ])('rejects a body that is %s, naming the field', async (_name, raw, expected, path) => {
    const { status, body } = await served.call({
      method: 'POST',
      url: '/things',
      raw,
      headers: { 'content-type': 'application/json' },
    });
    expect([status, body?.['code'], (body?.['errors'] as { path: string }[] | undefined)?.[0]?.path]).toEqual([
      400,
      expected,
      path,
    ]);
    expect(calls).toHaveLength(0);
  });

  it.each([
    ['application/json garbage', {}],
    ['application/json\ta', {}],
    ['text/plain', {}],
    ['application/json; charset=utf-16', {}],
    ['multipart/form-data; boundary=x', {}],
    ['application/json', { 'content-encoding': 'gzip' }],
  ])('rejects the content type %s %j', async (type, headers) =>
    expect(
      await code({
        method: 'POST',
        url: '/things',
        body: { name: 'a' },
        headers: { 'content-type': type, ...headers },
      }),
    ).toEqual([415, 'unsupported_media_type']),
  );

  it.each([
    'application/json',
    'application/json; charset=UTF-8',
    'application/json;charset="utf-8"',
    'application/json; charset=utf8',
  ])('takes the content type %s', async (type) => {
    expect(
      (await served.call({ method: 'POST', url: '/things', body: { name: 'a' }, headers: { 'content-type': type } }))
        .status,
    ).toBe(201);
  });

  it('rejects more than 1 MiB', async () => {
    expect(await code({ method: 'POST', url: '/things', body: { name: 'a'.repeat(1024 ** 2) } })).toEqual([
      413,
      'too_large',
    ]);
  });
});

describe('queries and lists', () => {
  it.each(['limit=0', 'limit=101', 'limit=0x10', 'limit=', 'limit=1&limit=2', 'x=1', 'limit[]=1', 'q[$ne]=1'])(
    'rejects %s',
    async (text) => {
      expect(await code({ url: `/things?${text}` })).toEqual([400, 'invalid_parameter']);
    },
  );

  it('rejects any parameter where none is declared', async () => {
    expect(await code({ url: '/things/known?x=1' })).toEqual([400, 'invalid_parameter']);
  });

  it('pages through a list with a cursor that holds for this list, these filters and this caller', async () => {
    const first = await served.call({ url: '/things?limit=2&q=a' });
    const cursor = first.body?.['nextCursor'] as string;
    expect(first.body?.['items']).toEqual([
      { id: '0', name: 'n0' },
      { id: '1', name: 'n1' },
    ]);
    expect((await served.call({ url: `/things?limit=2&q=a&cursor=${cursor}` })).body).toEqual({
      items: [{ id: '2', name: 'n2' }],
      nextCursor: null,
    });
    expect(await code({ url: `/things?q=b&cursor=${cursor}` })).toEqual([400, 'invalid_cursor']);
    expect(await code({ url: `/things?q=a&cursor=${cursor}`, key: 'ap_other' })).toEqual([400, 'invalid_cursor']);
    expect(await code({ url: `/things?q=a&cursor=x${cursor}` })).toEqual([400, 'invalid_cursor']);
  });

  it('waits for x-read-after, a position or the id of an event in a stream, and says when the view does not come', async () => {
    set.late = true;
    for (const position of ['0000000000000009', '0000000000000009-0123abcd']) {
      const { status, body, headers } = await served.call({ headers: { 'x-read-after': position } });
      expect([status, body?.['code'], headers['retry-after']]).toEqual([503, 'view_unavailable', '1']);
    }
    expect((await served.call({ headers: { 'x-read-after': '0000000000000009-0123' } })).status).toBe(400);
  });

  it('tells the caller alone that a view did not come to a position they named: anybody may name one past the head', async () => {
    const lines: string[] = [];
    const logged = await serveThings(makeLogger('info', { write: (line) => void lines.push(line) }));
    set.late = true;
    await logged.call({ headers: { 'x-read-after': '0000000000000009' } });
    await logged.call({ url: '/things/broken' });
    await logged.close();
    const told = lines.map((line) => JSON.parse(line) as { level: unknown; msg: string; code?: string });
    expect(told.filter(({ msg }) => msg === 'Request failed.').map((line) => line.code)).toEqual(['internal']);
  });
});
