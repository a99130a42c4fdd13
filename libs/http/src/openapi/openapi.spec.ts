import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { productRoot, productVersion } from '@app/kernel';
import type { OpenAPIObject } from '@nestjs/swagger';
import { z } from 'zod';
import { jsonSchemaOf } from './json-schema';
import { NamedSchemas } from './named-schemas';
import { openApiDocument } from './openapi';
import { previewApplication } from '../../../../apps/api/src/docs/preview';

/** What a client is generated from. `generated-files.spec.ts` holds the committed document to it. */
let document: OpenAPIObject;
beforeAll(async () => (document = openApiDocument(await previewApplication(), productVersion)));

type Schema = Record<string, unknown> & { readonly $ref?: string };
interface Documented {
  readonly named: string;
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly parameters: readonly { readonly name: string; readonly description?: string }[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Schema }> };
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema: Schema }> }>;
}

const operations = (): readonly Documented[] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, Omit<Documented, 'named'>>).map(([method, operation]) => ({
      ...operation,
      named: `${method} ${path}`,
    })),
  );
const schemas = (): Record<string, Schema> => document.components?.schemas as Record<string, Schema>;

it('is valid OpenAPI 3.1', () => {
  const validator = join(productRoot, 'node_modules/.bin/validate-api');
  const said = execFileSync(validator, [join(productRoot, 'docs/openapi.json')], { encoding: 'utf8' });
  expect(said).toMatch(/valid/i);
});

it('names each operation once, with a sentence and a tag that is described', () => {
  const names = operations().map(({ operationId }) => operationId);
  expect(names.length).toBeGreaterThan(100);
  expect(names.filter((name, index) => !/^[a-z][A-Za-z]+$/.test(name) || names.indexOf(name) !== index)).toEqual([]);
  expect(names).toEqual(expect.arrayContaining(['listAgents', 'createSpace', 'getDocument', 'patchAgent']));
  const tags = (document.tags ?? []).map(({ name }) => name);
  expect(
    operations()
      .filter((operation) => operation.summary === '' || !operation.tags.every((tag) => tags.includes(tag)))
      .map(({ named }) => named),
  ).toEqual([]);
});

it('names each body that is taken or answered as JSON', () => {
  const bodies = operations().flatMap(({ named, requestBody, responses }) =>
    [requestBody, ...Object.values(responses)].map((body) => ({ named, schema: body?.content?.['application/json'] })),
  );
  expect(bodies.filter(({ schema }) => schema !== undefined && schema.schema.$ref === undefined)).toEqual([]);
  expect(Object.keys(schemas())).toEqual(
    expect.arrayContaining(['Agent', 'AgentList', 'Space', 'Document', 'Conversation', 'Message', 'ApiKey', 'Problem']),
  );
});

it('describes each body with files: its fields, and behind them the files, which are required', () => {
  const bodies = operations().flatMap(({ operationId, requestBody }) => {
    const { schema } = requestBody?.content['multipart/form-data'] ?? {};
    if (schema === undefined) return [];
    const { properties, required, type } = schemas()[String(schema.$ref).split('/').pop() as string] as {
      readonly type: string;
      readonly properties: Record<
        string,
        { readonly type?: string; readonly format?: string; readonly items?: object }
      >;
      readonly required: readonly string[];
    };
    const { file } = properties;
    expect([operationId, type, file?.items ?? file]).toMatchObject([
      operationId,
      'object',
      { type: 'string', format: 'binary' },
    ]);
    const fields = Object.keys(properties).map((name) => (required.includes(name) ? `${name}!` : name));
    return [`${operationId}: ${fields.join(' ')}${file?.items === undefined ? '' : '…'}`];
  });
  expect(bodies).toEqual([
    'createDocument: scope name tagIds file!…',
    'updateDocument: name tagIds enabled file!',
    'patchDocument: name tagIds enabled file!',
    'putSourceFile: path! file!',
    'uploadAttachment: file!',
    'createSkill: scope! spaceId agentId publish file!',
    'importSkills: scope! spaceId agentId mode file!',
    'replaceSkillDraft: file!',
    'patchSkillDraft: file!',
    'putSkillFile: file!',
    'patchSkillFile: file!',
  ]);
});

it('offers JSON only where a body without files is taken, and a key for repeats only with JSON', () => {
  const onlyFiles = operations().filter(
    ({ requestBody }) => requestBody !== undefined && requestBody.content['application/json'] === undefined,
  );
  expect(onlyFiles.map(({ operationId }) => operationId)).toEqual([
    'putSourceFile',
    'uploadAttachment',
    'importSkills',
    'replaceSkillDraft',
    'patchSkillDraft',
    'putSkillFile',
    'patchSkillFile',
  ]);
  expect(onlyFiles.filter(({ parameters }) => parameters.some(({ name }) => name === 'Idempotency-Key'))).toEqual([]);
});

it('describes the bytes of a file beside the form that holds it', () => {
  const asBytes = operations().filter(({ requestBody }) => requestBody?.content['application/octet-stream']);
  expect(asBytes.map(({ operationId }) => operationId)).toEqual(['putSkillFile', 'patchSkillFile']);
  for (const { requestBody } of asBytes)
    expect(requestBody?.content).toEqual({
      'multipart/form-data': { schema: { $ref: '#/components/schemas/PutSkillFileRequest' } },
      'application/octet-stream': { schema: { type: 'string', format: 'binary' } },
    });
});

it('names the rest of a path, which may have slashes', () =>
  expect(
    Object.keys(document.paths).filter((path) => /\/(?:files\/\{path\}|models\/\{modelId\})$|\*/.test(path)),
  ).toEqual([
    '/api/compat/v1/models/{modelId}',
    '/api/v1/core/skills/{skillId}/draft/files/{path}',
    '/api/v1/core/skills/{skillId}/versions/{versionId}/files/{path}',
  ]));

it('refers to nothing that is not there', () => {
  const referred = [...JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name);
  expect(referred.filter((name) => schemas()[name as string] === undefined)).toEqual([]);
  expect(Object.keys(schemas()).filter((name) => !referred.includes(name))).toEqual([]);
});

it('describes each parameter, and each property of each schema', () => {
  const bare = operations().flatMap(({ named, parameters }) =>
    parameters.filter(({ description }) => description === undefined).map(({ name }) => `${named} ${name}`),
  );
  for (const [name, schema] of Object.entries(schemas())) bare.push(...undescribed(schema, name));
  expect(bare).toEqual([]);
});

const undescribed = (schema: unknown, place: string): string[] => {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {} } = schema as { properties?: Record<string, Schema> };
  return [
    ...Object.entries(properties).flatMap(([name, property]) => [
      ...(property['description'] === undefined && property.$ref === undefined ? [`${place}.${name}`] : []),
      ...undescribed(property, `${place}.${name}`),
    ]),
    ...Object.entries(schema)
      .filter(([key]) => key !== 'properties')
      .flatMap(([, inner]) => (Array.isArray(inner) ? inner : [inner]).flatMap((one) => undescribed(one, place))),
  ];
};

/** May be anything on purpose. */
const FREE_FORM = [
  'Agent.tools[].http.document.*',
  'AgentVersion.changes.tools[].http.document.*',
  'CreateAgentRequest.tools[].http.document.*',
  'GenerateObjectRequest.schema.*',
  'GeneratedObject.object',
  'JsonValue',
  'UpdateAgentRequest.tools[].http.document.*',
];

it('says of each value what it is, but of those that may be anything', () => {
  const untyped = Object.entries(schemas()).flatMap(([name, schema]) => untypedIn(schema, name));
  expect(untyped.toSorted()).toEqual(FREE_FORM);
});

/** Where a schema takes any value. Further fields of an object with fields are none of these. */
const untypedIn = (schema: Schema, place: string): readonly string[] => {
  if (Object.keys(schema).every((key) => key === 'description')) return [place];
  const { properties, items, additionalProperties, anyOf, allOf, oneOf } = schema as Readonly<
    Record<'properties', Record<string, Schema> | undefined> &
      Record<'items' | 'additionalProperties', Schema | undefined> &
      Record<'anyOf' | 'allOf' | 'oneOf', readonly Schema[] | undefined>
  >;
  const isRecord = properties === undefined && typeof additionalProperties === 'object';
  return [
    ...Object.entries(properties ?? {}).flatMap(([name, property]) => untypedIn(property, `${place}.${name}`)),
    ...(items === undefined ? [] : untypedIn(items, `${place}[]`)),
    ...(isRecord ? untypedIn(additionalProperties, `${place}.*`) : []),
    ...[anyOf, allOf, oneOf].flatMap((some = []) => some.flatMap((one) => untypedIn(one, place))),
  ];
};

it('has no schema under a name that nobody chose', () =>
  expect(Object.keys(schemas()).filter((name) => !/^[A-Z][A-Za-z0-9]+$/.test(name))).toEqual([]));

it('says of each answer that is neither JSON nor text that it is a file', () => {
  const answers = operations().flatMap(({ responses }) =>
    Object.values(responses).flatMap(({ content = {} }) => Object.entries(content)),
  );
  const files = answers.filter(([mediaType]) => !mediaType.endsWith('json') && !mediaType.startsWith('text/'));
  expect([...new Set(files.map(([mediaType]) => mediaType))].toSorted()).toEqual([
    '*/*',
    'application/octet-stream',
    'application/zip',
  ]);
  for (const [, { schema }] of files) expect(schema).toEqual({ type: 'string', format: 'binary' });
  for (const [, { schema }] of answers.filter(([mediaType]) => mediaType.startsWith('text/')))
    expect(schema).toEqual({ type: 'string' });
});

describe('a named schema', () => {
  it('becomes a component, also inside another', () => {
    const inner = z.object({ name: z.string() }).meta({ id: 'Inner' });
    const { schema, components } = jsonSchemaOf(z.object({ list: z.array(inner) }).meta({ id: 'Outer' }), 'output');
    expect(schema).toEqual({ $ref: '#/components/schemas/Outer' });
    expect(Object.keys(components).toSorted()).toEqual(['Inner', 'Outer']);
    expect(components['Inner']).toEqual({
      type: 'object',
      properties: { name: { type: 'string' } },
      required: ['name'],
    });
  });

  it('has its name to itself', () => {
    const all = new NamedSchemas();
    all.convert(z.object({ a: z.string() }).meta({ id: 'Same' }), 'output');
    all.convert(z.object({ a: z.string() }).meta({ id: 'Same' }), 'output');
    expect(() => all.convert(z.object({ b: z.string() }).meta({ id: 'Same' }), 'output')).toThrow(/named Same/);
  });
});
