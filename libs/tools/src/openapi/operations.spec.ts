import { threadTime } from '../../../../test/fixtures/processor-time';
import { DocumentFault } from './document-fault';
import { operationsOf, operationsOrFault } from './operations';
import { toolNameOf } from './tool-names';

const petStore = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1' },
  security: [{ key: [] }],
  paths: {
    '/pets/{petId}': {
      parameters: [{ name: 'petId', in: 'path', required: true, schema: { type: 'string' } }],
      get: {
        operationId: 'getPet',
        summary: 'Reads a pet.',
        description: 'With its owner.',
        parameters: [{ $ref: '#/components/parameters/fields' }],
      },
      put: {
        requestBody: { $ref: '#/components/requestBodies/Pet' },
        security: [{ oauth: [] }, {}],
      },
    },
  },
  components: {
    parameters: { fields: { name: 'fields[]', in: 'query', schema: { type: 'array', items: { type: 'string' } } } },
    requestBodies: {
      Pet: { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } },
    },
    schemas: {
      Pet: {
        type: 'object',
        required: ['id', 'name'],
        properties: {
          id: { type: 'string', readOnly: true },
          name: { $ref: '#/components/schemas/Name', description: 'How it is called.' },
          age: { type: 'integer', nullable: true, minimum: 0, exclusiveMinimum: true },
          'x-odd': true,
        },
      },
      Name: { type: 'string', maxLength: 20, example: 'Rex' },
    },
    securitySchemes: {
      key: { type: 'apiKey', in: 'header', name: 'X-Key' },
      oauth: { type: 'oauth2', flows: {} },
    },
  },
};

/** A document with one operation, changed. */
const withGet = (operation: object, others: object = {}, path = '/a'): object => ({
  openapi: '3.0.3',
  paths: { [path]: { get: { operationId: 'a', ...operation } } },
  ...others,
});
const schemas = (given: object) => ({ components: { schemas: given } });
const query = (schema: object) => ({ parameters: [{ name: 'q', in: 'query', schema }] });
const said = (document: unknown): string => {
  const found = operationsOrFault(document);
  return found instanceof DocumentFault ? `${found.place.join(' ')}: ${found.message}` : 'nothing';
};

describe('the operations of an OpenAPI document', () => {
  it('are what a model can call, with what they refer to in place', () => {
    const [get, put] = operationsOf(petStore);
    expect(get).toMatchObject({
      name: 'getPet',
      method: 'GET',
      path: '/pets/{petId}',
      description: 'Reads a pet.\nWith its owner.',
      secret: { kind: 'header', name: 'X-Key' },
      body: undefined,
      inputSchema: {
        type: 'object',
        properties: { petId: { type: 'string' }, fields__: { type: 'array', items: { type: 'string' } } },
        required: ['petId'],
        additionalProperties: false,
      },
    });
    expect(put).toMatchObject({ name: 'put/pets/{petId}', secret: undefined, body: { required: true } });
    expect(put?.inputSchema['properties']).toMatchObject({
      body: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', maxLength: 20, description: 'How it is called.' },
          age: { type: ['integer', 'null'], exclusiveMinimum: 0 },
          'x-odd': {},
        },
      },
    });
    expect(JSON.stringify(put?.inputSchema)).not.toMatch(/Rex|"minimum"|"id"|\$ref/);
  });

  it('give parameters of one name in two places a field each', () => {
    const [operation] = operationsOf(
      withGet(
        {
          parameters: [
            { name: 'id', in: 'path', required: true, schema: {} },
            { name: 'id', in: 'query', schema: {} },
            { name: 'body', in: 'query', schema: {} },
          ],
          requestBody: { content: { 'text/plain': {} } },
        },
        {},
        '/a/{id}',
      ),
    );
    expect(operation?.parameters.map(({ field }) => field)).toEqual(['id', 'query_id', 'query_body']);
  });

  it('take no parameter for where the secret goes', () => {
    const [operation] = operationsOf(
      withGet(
        { security: [{ key: [] }], parameters: [{ name: 'api_key', in: 'query', required: true, schema: {} }] },
        { components: { securitySchemes: { key: { type: 'apiKey', in: 'query', name: 'api_key' } } } },
      ),
    );
    expect(operation?.inputSchema).toEqual({ type: 'object', properties: {}, additionalProperties: false });
  });

  it.each<[string, unknown, string]>([
    ['is no object', [], ': must be an object'],
    ['is of Swagger', { swagger: '2.0' }, 'openapi: must be the version'],
    ['has no paths', { openapi: '3.1.0' }, 'paths: must be an object'],
    ['has no operation', { openapi: '3.1.0', paths: {} }, 'paths: must have an operation'],
    ['has a path without a slash', withGet({}, {}, 'a'), 'paths a: must be a path'],
    ['has a path upwards', withGet({}, {}, '/a/../b'), 'paths /a/../b: must be a path'],
    ['has a path with a query', withGet({}, {}, '/a?b'), 'paths /a?b: must be a path'],
    ['has a path that ends a line', withGet({}, {}, '/a\r\nHost: b'), 'must be a path'],
    ['has an unpaired brace', withGet({}, {}, '/a}'), 'paths /a} get: must have a path whose braces'],
    ['names a path parameter nowhere', withGet({}, {}, '/{id}'), 'paths /{id} get parameters: must declare'],
    [
      'has a path parameter that is not in the path',
      withGet({ parameters: [{ name: 'id', in: 'path', required: true, schema: {} }] }),
      'paths /a get parameters: has a path parameter that is not in the path',
    ],
    [
      'has one operationId twice',
      { openapi: '3.1.0', paths: { '/a': { get: { operationId: 'x' } }, '/b': { get: { operationId: 'x' } } } },
      'paths /b get operationId: must be given once',
    ],
    [
      'refers elsewhere',
      withGet(query({ $ref: 'https://example.com/a.json' })),
      'schema $ref: must refer to this document',
    ],
    ['refers to a file', withGet(query({ $ref: './a.json#/b' })), 'schema $ref: must refer to this document'],
    ['refers elsewhere where nobody looks', withGet({ 'x-a': [{ $ref: 'http://a/' }] }), 'x-a 0 $ref: must refer'],
    ['refers to nothing', withGet(query({ $ref: '#/components/schemas/A' })), 'schema $ref: must name something'],
    ['refers to what is inherited', withGet(query({ $ref: '#/constructor/name' })), 'schema $ref: must name something'],
    [
      'has a schema that contains itself',
      withGet(
        query({ $ref: '#/components/schemas/A' }),
        schemas({ A: { properties: { a: { $ref: '#/components/schemas/A' } } } }),
      ),
      'must not contain itself',
    ],
    [
      'refers in a circle',
      withGet(query({ $ref: '#/components/schemas/A' }), schemas({ A: { $ref: '#/components/schemas/A' } })),
      'must lead to something that is no reference',
    ],
    ['has a type that is none', withGet(query({ type: 'date' })), 'schema type: must be a type'],
    ['has a number for a text', withGet(query({ minLength: '1' })), 'schema minLength: must be a number'],
    ['has a parameter without a schema', withGet({ parameters: [{ name: 'q', in: 'query' }] }), 'schema: is missing'],
    [
      'has a parameter twice',
      withGet({ parameters: [...query({}).parameters, ...query({}).parameters] }),
      'parameters 1: must not be given twice',
    ],
    [
      'needs a cookie',
      withGet({ parameters: [{ name: 'c', in: 'cookie', required: true, schema: {} }] }),
      'in: must not be cookie',
    ],
    [
      'sets the host',
      withGet({ parameters: [{ name: 'Host', in: 'header', schema: {} }] }),
      'name: must be the name of a header',
    ],
    [
      'sets a header of two lines',
      withGet({ parameters: [{ name: 'a\r\nb', in: 'header', schema: {} }] }),
      'name: must be the name of a header',
    ],
    [
      'has a style that is none',
      withGet({ parameters: [{ name: 'q', in: 'query', style: 'matrix', schema: {} }] }),
      'style: must be form',
    ],
    [
      'takes files alone',
      { openapi: '3.1.0', paths: { '/a': { post: { requestBody: { content: { 'multipart/form-data': {} } } } } } },
      'requestBody content: must be one of application/json',
    ],
    ['names a scheme that is none', withGet({ security: [{ a: [] }] }), 'security: must name a scheme'],
    [
      'asks for OAuth alone',
      withGet({ security: [{ o: [] }] }, { components: { securitySchemes: { o: { type: 'oauth2' } } } }),
      'security: must allow an API key',
    ],
    [
      'has the secret in the header Host',
      withGet(
        { security: [{ k: [] }] },
        { components: { securitySchemes: { k: { type: 'apiKey', in: 'header', name: 'Host' } } } },
      ),
      'components securitySchemes k name: must be the name of a header',
    ],
    ['has the operation TRACE', { openapi: '3.1.0', paths: { '/a': { trace: {} } } }, 'trace: must be left out'],
    [
      'has 101 operations',
      { openapi: '3.1.0', paths: Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`/${at}`, { get: {} }])) },
      'paths: must have at most 100 operations',
    ],
  ])('are none if it %s', (_what, document, expected) => expect(said(document)).toContain(expected));

  it('are none if it grows without end when its references are followed, and that is found at once', () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 30 }, (_, level) => [
        `L${level}`,
        level === 29
          ? { type: 'string' }
          : { anyOf: [1, 2].map(() => ({ $ref: `#/components/schemas/L${level + 1}` })) },
      ]),
    );
    const document = withGet(query({ $ref: '#/components/schemas/L0' }), schemas(doubling));
    const spent = threadTime();
    expect(said(document)).toContain('must not bring the inputs to more than 4000 schemas');
    expect(spent()).toBeLessThan(500);
    const long = withGet(
      {
        parameters: Array.from({ length: 40 }, (_, at) => ({
          name: `q${at}`,
          in: 'query',
          schema: { $ref: '#/components/schemas/A' },
        })),
      },
      schemas({ A: { enum: ['x'.repeat(20_000)] } }),
    );
    expect(said(long)).toContain('must not bring the inputs to more than 200000 characters');
  });

  it('may have schemas that contain themselves where they answer', () => {
    const tree = { A: { properties: { children: { items: { $ref: '#/components/schemas/A' } } } } };
    const content = { 'application/json': { schema: { $ref: '#/components/schemas/A' } } };
    expect(said(withGet({ responses: { 200: { content } } }, schemas(tree)))).toBe('nothing');
  });

  it('are not deeper than a document may be', () => {
    let deep: object = {};
    for (let level = 0; level < 100; level += 1) deep = { a: deep };
    expect(said(withGet({ 'x-a': deep }))).toContain('must not be nested more than 64 levels deep');
  });
});

describe('the name of a tool', () => {
  it.each([
    ['weather', 'getForecast', 'weather_getForecast'],
    ['my.api', 'pets.list', 'my_api_pets_list'],
    ['a', 'get/pets/{petId}', 'a_get_pets_petId'],
    ['a-b', 'c--d', 'a-b_c--d'],
    ['...', '天気', expect.stringMatching(/^tool_[0-9a-f]{8}$/)],
  ])('of %s and %s is in the grammar of models', (id, operation, name) => {
    expect(toolNameOf(id, operation)).toEqual(name);
    expect(toolNameOf(id, operation)).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  });

  it('is cut to 64 characters, and stays distinct', () => {
    const names = ['a', 'b'].map((end) => toolNameOf('tool', 'x'.repeat(100) + end));
    expect(names.map((name) => name.length)).toEqual([64, 64]);
    expect(names[0]).not.toBe(names[1]);
  });
});
