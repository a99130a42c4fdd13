import { longestTurn } from '../fixtures/longest-turn';
import { completion, json } from '../fixtures/upstream-double';
import { generate, invocations, newAgent, saying, sent, upstream, withGenerating } from './generation-world';

/** Issue 20, number 1: `generateObject`, over HTTP, against a provider that does as it likes. */

withGenerating();

const PERSON = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    name: { type: 'string', pattern: '^\\p{Lu}' },
    role: { enum: ['admin', 'member'] },
    homes: { type: 'array', items: { $ref: '#/$defs/place' }, minItems: 1, uniqueItems: true },
  },
  required: ['name', 'role', 'homes'],
  additionalProperties: false,
  $defs: { place: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
};
const ADA = { name: 'Ada', role: 'admin', homes: [{ city: 'Köln' }] };
const object = (agent: string, body: object) =>
  generate(agent, { prompt: 'Who?', schema: PERSON, ...body }, 'generateObject');

describe('generateObject', () => {
  it.each([JSON.stringify(ADA), `\`\`\`json\n${JSON.stringify(ADA)}\n\`\`\``, ` ${JSON.stringify(ADA, null, 2)}\n`])(
    'answers an object that is valid under the schema, however the model wrote it: %j',
    async (text) => {
      const agent = await newAgent({ systemPrompt: 'Be exact.' });
      upstream.behaviour = saying(text);
      const { status, body } = await object(agent, { schemaName: 'person' });
      expect([status, body]).toEqual([
        200,
        {
          object: ADA,
          finishReason: 'stop',
          sources: [],
          usage: expect.objectContaining({ inputTokens: 19, cost: '0.0000354' }) as object,
          model: 'chat',
          invocationId: (await invocations(agent, 1))[0]?.id,
        },
      ]);
      const [system] = sent()[0]?.messages ?? [];
      expect(system?.content).toMatch(/^Be exact\.\n\n[^]*valid under this JSON Schema/);
      expect(sent()[0]?.['response_format']).toBeUndefined();
    },
  );

  it('asks a model that structures its outputs for them', async () => {
    const agent = await newAgent();
    upstream.behaviour = saying(JSON.stringify(ADA));
    expect((await object(agent, { model: 'sees', schemaName: 'person' })).body.object).toEqual(ADA);
    expect(sent()).toMatchObject([
      { messages: [{ role: 'user' }], response_format: { json_schema: { name: 'person', schema: PERSON } } },
    ]);
  });

  it.each([
    ['Sorry, no.', /it is not JSON/],
    ['{"name":"Ada","role":"adm', /it is not JSON/],
    [JSON.stringify({ ...ADA, role: 'king' }), /\/role must be equal to one of the allowed values/],
    [JSON.stringify({ ...ADA, homes: [{}] }), /\/homes\/0 must have required property 'city'/],
    [JSON.stringify({ ...ADA, homes: [ADA.homes[0], ADA.homes[0]] }), /must NOT have duplicate items/],
    [JSON.stringify({ ...ADA, name: 'ada' }), /must match pattern/],
    [JSON.stringify({ ...ADA, admin: true }), /must NOT have additional properties/],
  ])('asks again, and says what was wrong: %s', async (wrong, fault) => {
    const agent = await newAgent();
    upstream.behaviour = saying(wrong, JSON.stringify(ADA));
    const { body } = await object(agent, {});
    expect([body.object, body.usage.cost, body.usage.inputTokens]).toEqual([ADA, '0.0000708', 38]);
    expect(sent()[1]?.messages.slice(-2)).toMatchObject([
      { role: 'assistant', content: wrong },
      { role: 'user', content: expect.stringMatching(fault) as string },
    ]);
    expect((await invocations(agent, 2)).map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
  });

  it('gives up behind the third answer, with its text, and all three are billed', async () => {
    const agent = await newAgent();
    upstream.behaviour = saying('No.', '{}', 'Never, <b>never</b>.');
    const answer = await object(agent, {});
    expect([answer.status, answer.body]).toMatchObject([
      422,
      { code: 'no_object_generated', text: 'Never, <b>never</b>.' },
    ]);
    expect([upstream.calls.length, (await invocations(agent, 3)).length]).toEqual([3, 3]);
  });

  it('that a provider fails at in the middle is its failure', async () => {
    const agent = await newAgent();
    upstream.behaviour = (response, call) => {
      if (upstream.calls.length === 1) saying('No.')(response, call);
      else json(response, 429, {});
    };
    expect(await object(agent, {})).toMatchObject({ status: 502, body: { code: 'upstream_error' } });
  });

  it('checks nothing of a sentence of a provider without words', async () => {
    const agent = await newAgent();
    upstream.behaviour = (response) => json(response, 200, completion({ content: null }, 'chat'));
    expect(await object(agent, {})).toMatchObject({ status: 422, body: { text: '' } });
  });
});

describe('a schema from outside', () => {
  const chain = (length: number, of: (next: string) => object) =>
    Object.fromEntries(
      Array.from({ length }, (_, index) => [
        `d${index}`,
        index === length - 1 ? { type: 'string' } : of(`#/$defs/d${index + 1}`),
      ]),
    );
  const nested = (depth: number): object => (depth === 0 ? {} : { not: nested(depth - 1) });

  it.each<[string, string, object]>([
    ['a remote reference', 'schema.properties.a.$ref', { properties: { a: { $ref: 'http://127.0.0.1:1/x.json' } } }],
    ['a file', 'schema.items.$ref', { items: { $ref: 'file:///etc/passwd' } }],
    ['a relative reference', 'schema.$ref', { $ref: 'other.json#/a' }],
    ['a reference to nothing', 'schema.$ref', { $ref: '#/$defs/none' }],
    ['a reference through the prototype', 'schema.$ref', { $ref: '#/__proto__' }],
    ['recursion', 'schema.properties.next.$ref', { properties: { next: { $ref: '#' } } }],
    [
      'recursion around a corner',
      'schema.$defs.a.items.$ref.items.$ref',
      { $defs: { a: { items: { $ref: '#/$defs/b' } }, b: { items: { $ref: '#/$defs/a' } } } },
    ],
    ['a dynamic reference', 'schema.$dynamicRef', { $dynamicRef: '#meta' }],
    ['an inner identity', 'schema.properties.a.$id', { properties: { a: { $id: 'http://x/y' } } }],
    ['another dialect', 'schema.$schema', { $schema: 'http://127.0.0.1:1/meta' }],
    ['more than 256 KiB', 'schema', { description: 'x'.repeat(262_144) }],
    [
      'billions of schemas',
      'schema',
      { $defs: chain(25, (next) => ({ allOf: [{ $ref: next }, { $ref: next }] })), $ref: '#/$defs/d0' },
    ],
    ['many values', 'schema', { enum: Array.from({ length: 10_001 }, (_, index) => index) }],
    ['no schema', 'schema', { type: 'strin' }],
    ['no pattern', 'schema', { pattern: '(' }],
    ['an array', 'schema', []],
  ])('is rejected for %s, and nothing is fetched or asked', async (_, path, schema) => {
    const agent = await newAgent();
    const { status, body } = await object(agent, { schema });
    expect([status, body.code, body.errors[0]?.path]).toEqual([400, 'invalid_body', path]);
    expect(upstream.calls).toEqual([]);
  });

  it('is rejected over 64 deep, by way of references too', async () => {
    const agent = await newAgent();
    for (const schema of [
      nested(64),
      { $ref: '#/$defs/d0', $defs: chain(66, (next) => ({ items: { $ref: next } })) },
    ]) {
      const { status, body } = await object(agent, { schema });
      expect([status, body.code]).toEqual([400, 'invalid_body']);
    }
    upstream.behaviour = saying('"x"');
    expect((await object(agent, { schema: nested(60) })).status).toBe(200);
  });

  it('is rejected at 5 MB', async () => {
    const agent = await newAgent();
    expect((await object(agent, { schema: { enum: ['x'.repeat(5_000_000)] } })).status).toBe(400);
  });

  it('may have a pattern that takes for ever: the process goes on meanwhile, and says so', async () => {
    const agent = await newAgent();
    upstream.behaviour = saying(JSON.stringify(`${'a'.repeat(50)}!`));
    const longest = longestTurn();
    expect(await object(agent, { schema: { type: 'string', pattern: '^(a+)+$' } })).toMatchObject({
      status: 400,
      body: { code: 'invalid_body', errors: [{ path: 'schema' }] },
    });
    // Far less than the two seconds that the pattern was given.
    expect(longest()).toBeLessThan(1_000);
    upstream.behaviour = saying('"aa"');
    expect((await object(agent, { schema: { type: 'string', pattern: '^(a+)+$' } })).body.object).toBe('aa');
  });

  it('cannot be made to pass everything, or to fall over what is deep', async () => {
    const agent = await newAgent();
    upstream.behaviour = saying('"text"');
    expect((await object(agent, { schema: { $async: true, type: 'number' } })).status).toBe(422);
    for (const text of ['['.repeat(100_000) + ']'.repeat(100_000), `"${'['.repeat(1_000)}`, '\n'.repeat(1_000_000)]) {
      upstream.behaviour = saying(text);
      expect((await object(agent, { schema: {} })).status).toBe(422);
    }
    const deep = '['.repeat(256) + ']'.repeat(256);
    upstream.behaviour = saying(`\`\`\`\n${'\n'.repeat(200_000)}${deep}\`\`\``);
    expect((await object(agent, { schema: {} })).text).toContain(deep);
  });

  it('may name its members as JavaScript does its own', async () => {
    const agent = await newAgent();
    const text = '{"__proto__":{"polluted":true},"constructor":"a","$ref":"b"}';
    upstream.behaviour = saying(text);
    const schema = {
      type: 'object',
      properties: { constructor: { type: 'string' }, $ref: { type: 'string' } },
      required: ['$ref'],
    };
    const answer = await object(agent, { schema });
    expect(answer.text).toContain(`"object":${text}`);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('is one of draft 7 too', async () => {
    const agent = await newAgent();
    upstream.behaviour = saying('["a",1]');
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      definitions: { a: { type: 'string' } },
      items: [{ $ref: '#/definitions/a' }, { type: 'number' }],
      additionalItems: false,
    };
    expect((await object(agent, { schema })).body.object).toEqual(['a', 1]);
  });
});
