import { operationOf, withToolApi } from '../../../../test/fixtures/tool-calls';

const { result, running } = withToolApi();

const withPath = { parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }] };
const withHeader = { parameters: [{ name: 'X-A', in: 'header', schema: { type: 'string' } }] };

describe('a call of an operation', () => {
  it('sends each value where it belongs, and answers what the API says', async () => {
    const operation = operationOf(
      {
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'tags', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
          { name: 'near', in: 'query', style: 'deepObject', schema: { type: 'object' } },
          { name: 'list', in: 'query', explode: false, schema: { type: 'array' } },
          { name: 'filter', in: 'query', content: { 'application/json': { schema: { type: 'object' } } } },
          { name: 'X-Trace', in: 'header', schema: { type: 'integer' } },
        ],
        requestBody: { content: { 'application/json': { schema: { type: 'object' } } } },
      },
      '/pets/{id}/über%20all',
      'post',
    );
    const input = {
      id: 'a/b?c#d%&',
      tags: ['x y', 'z&a=b'],
      near: { lat: 1 },
      list: [1, 2],
      filter: { a: [true] },
      'X-Trace': 7,
      body: { name: 'Rex' },
    };
    expect(await result({ operation, input, baseUrl: `${running().origin}/v1` })).toEqual({
      isError: false,
      status: 200,
      body: { ok: true },
    });
    expect(running().asked).toEqual([
      {
        method: 'POST',
        url: '/v1/pets/a%2Fb%3Fc%23d%25%26/%C3%BCber%20all?tags=x%20y&tags=z%26a%3Db&near%5Blat%5D=1&list=1%2C2&filter=%7B%22a%22%3A%5Btrue%5D%7D',
        headers: expect.objectContaining({ host: running().host, 'x-trace': '7', 'content-type': 'application/json' }),
        body: '{"name":"Rex"}',
      },
    ]);
    expect(running().asked[0]?.headers).not.toHaveProperty('authorization');
  });

  it.each([
    [{ type: 'http', scheme: 'bearer' }, { authorization: 'Bearer user:sesame-open' }, '/a'],
    [{ type: 'http', scheme: 'Basic' }, { authorization: `Basic ${btoa('user:sesame-open')}` }, '/a'],
    [{ type: 'apiKey', in: 'header', name: 'X-Key' }, { 'x-key': 'user:sesame-open' }, '/a'],
    [{ type: 'apiKey', in: 'query', name: 'key' }, {}, '/a?key=user%3Asesame-open'],
  ])('carries the secret as %j says, and the API cannot tell it to the model', async (scheme, headers, url) => {
    running().answer = (request, response) =>
      void response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ ...request.headers, url: request.url, is: 'user:sesame-open, sesame-open' }));
    const operation = operationOf({ security: [{ s: [] }] }, '/a', 'get', {
      components: { securitySchemes: { s: scheme } },
    });
    const { body } = await result({ operation, secret: 'user:sesame-open' });
    expect(running().asked[0]).toMatchObject({ headers, url });
    expect(JSON.stringify(body)).not.toMatch(/sesame|dXNlcjpz/);
    expect(JSON.stringify(body)).toContain('[secret]');
    expect(await result({ operation })).toMatchObject({ isError: true, error: expect.stringContaining('no secret') });
    expect(running().asked).toHaveLength(1);
  });

  it.each([
    ['of its address', 'application/json', (url: string) => JSON.stringify({ url })],
    ['with escaped slashes', 'application/json', () => '{"is":"a*b\\/c+d \\"e\'&ü9"}'],
    ['with escapes of Unicode', 'application/json', () => '{"is":"a*b/c\\u002Bd \\u0022e\\u0027\\u0026\\u00fc9"}'],
    ['in HTML', 'text/html', () => '<b>a*b/c&#43;d &quot;e&#x27;&amp;ü9</b>'],
    ['in an address with small digits', 'text/plain', () => 'a%2ab%2fc%2bd%20%22e%27%26%c3%bc9'],
  ])('does not tell the secret %s either', async (_how, type, told) => {
    running().answer = (request, response) =>
      void response.setHeader('content-type', type).end(told(request.url ?? ''));
    const operation = operationOf({ security: [{ s: [] }] }, '/a', 'get', {
      components: { securitySchemes: { s: { type: 'apiKey', in: 'query', name: 'key' } } },
    });
    const { body } = await result({ operation, secret: `a*b/c+d "e'&ü9` });
    expect(JSON.stringify(body)).toContain('[secret]');
    expect(JSON.stringify(body)).not.toMatch(/b(?:\/|%2f)|9/i);
  });

  it('tells an error of the API as one', async () => {
    running().answer = (_request, response) =>
      void response.writeHead(404, { 'content-type': 'text/plain' }).end('no such pet');
    expect(await result()).toEqual({ isError: true, status: 404, body: 'no such pet' });
  });

  it.each<[string, object, unknown, string]>([
    ['what is no JSON', {}, '{"a":', 'not JSON'],
    ['a field too many', {}, { host: 'x' }, 'host is unknown'],
    ['a step upwards', withPath, { id: '..' }, 'id must not be empty'],
    ['a step upwards behind a slash', withPath, { id: 'a/../../b' }, 'id must not be empty'],
    ['an empty step', withPath, { id: '' }, 'id must not be empty'],
    ['a line that ends in a path', withPath, { id: 'a\r\nb' }, 'id must not be empty'],
    ['half a character', withPath, { id: '\ud800' }, 'well-formed'],
    ['a header that ends its line', withHeader, { 'X-A': 'a\r\nauthorization: b' }, 'printable ASCII'],
    ['a header too long', withHeader, { 'X-A': 'a'.repeat(5_000) }, 'at most 4000'],
    ['a value of another type', withPath, { id: 7 }, 'id must be string'],
    ['more than there is room for', withHeader, { 'X-A': 'a'.repeat(70_000) }, 'at most 65536 characters'],
  ])('sends nothing for %s, and says why', async (_what, operation, input, expected) => {
    const path = operation === withPath ? '/a/{id}' : '/a';
    const { isError, error } = await result({ operation: operationOf(operation, path), input });
    expect({ isError, error }).toEqual({ isError: true, error: expect.stringContaining(expected) });
    expect(running().asked).toEqual([]);
  });

  it('makes no dot step of values side by side, nor behind a dot of the path', async () => {
    const parameters = ['a', 'b'].map((name) => ({ name, in: 'path', required: true, schema: {} }));
    const operation = operationOf({ parameters }, '/x/{a}{b}/y');
    expect((await result({ operation, input: { a: '.', b: '.' } })).error).toContain('dot');
    const one = { parameters: [{ name: 'a', in: 'path', required: true, schema: {} }] };
    const behind = operationOf(one, '/x/.{a}/y');
    expect((await result({ operation: behind, input: { a: '.' } })).error).toContain('dot');
    expect(running().asked).toEqual([]);
  });
});
