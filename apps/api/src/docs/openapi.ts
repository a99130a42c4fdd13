import { errorRegistry, type ErrorEntry } from '../http/error-registry';
import type { RouteDeclaration } from '../http/route';
import type { ServedRoute } from '../http/route-table';
import { envelopeResponses, errorEnvelopeSchema, isCompatPath } from './compat-openapi';
import { type Components, jsonSchemaOf } from './json-schema';

/** The OpenAPI 3.1 document of these routes. The same routes give the same bytes. */
export const openApiDocument = (routes: readonly ServedRoute[], version: string): object => {
  const components: Components = { Problem: problemSchema, ErrorEnvelope: errorEnvelopeSchema };
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes.filter(({ method }) => method !== 'HEAD').toSorted(byPlace)) {
    const path = documentedPath(route.url);
    (paths[path] ??= {})[route.method.toLowerCase()] = operation(route, path, components);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Agent Platform',
      version,
      description: 'An open platform for running AI agents, on an event log.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(components).toSorted(([a], [b]) => (a < b ? -1 : 1))),
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same API key, on the compatible API.' },
        metricsToken: { type: 'http', scheme: 'bearer', description: 'METRICS_TOKEN' },
      },
    },
  };
};

/** Paths end with `*` where the id of a model may hold slashes. */
export const documentedPath = (url: string): string => url.replace(/:(\w+)/g, '{$1}').replace(/\*$/, '{modelId}');

const byPlace = (a: ServedRoute, b: ServedRoute): number =>
  a.url === b.url ? a.method.localeCompare(b.method) : a.url < b.url ? -1 : 1;

const problemSchema = {
  type: 'object',
  description: 'What went wrong (RFC 9457). `code` is stable.',
  required: ['type', 'title', 'status', 'code', 'detail', 'requestId'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string', enum: Object.keys(errorRegistry) },
    detail: { type: 'string' },
    requestId: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'code', 'message'],
        properties: { path: { type: 'string' }, code: { type: 'string' }, message: { type: 'string' } },
      },
    },
    outcome: {
      type: 'string',
      enum: ['none', 'unknown'],
      description: 'On 503 of a write: whether it may have happened.',
    },
    limitId: { type: 'string', description: 'On 429 `usage_limit_exceeded`: the limit that is reached.' },
    scope: { type: 'string', description: 'What that limit is for.' },
    window: { type: 'string' },
    resetsAt: { type: ['string', 'null'] },
    amount: { type: 'string', description: "Told of the caller's own limits, as `spent` and `held`." },
    spent: { type: 'string' },
    held: { type: 'string' },
  },
};

const operation = ({ method, declaration }: ServedRoute, path: string, components: Components): object => {
  const { summary, body, answers = { 200: null }, csv } = declaration;
  return {
    operationId: `${method.toLowerCase()}${path
      .split(/[/{}._-]+/)
      .filter(Boolean)
      .map(capitalised)
      .join('')}`,
    tags: [tagOf(path)],
    summary: summary ?? `${method} ${path}`,
    'x-permission': declaration.requires,
    security: securityOf(declaration.requires),
    parameters: [
      ...pathParameters(path),
      ...queryParameters(declaration, components),
      ...(isCompatPath(path) ? [] : headerParameters(method)),
    ],
    ...(body === undefined ? {} : { requestBody: { required: body.required, content: bodyContent(body, components) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, schema]) => [
          status,
          {
            description: descriptions[status] ?? 'Done.',
            ...(schema === null
              ? {}
              : {
                  content: {
                    'application/json': { schema: jsonSchemaOf(schema, 'output', components) },
                    ...(csv && status === '200' ? csvContent : {}),
                  },
                }),
          },
        ]),
      ),
      ...(isCompatPath(path) ? envelopeResponses(method) : problemResponses(codesOf(method, path, declaration))),
    },
  };
};

const csvContent = { 'text/csv': { schema: { type: 'string' } } };

const descriptions: Readonly<Record<string, string>> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted. The work continues.',
  204: 'Done; no content.',
};

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const tagOf = (path: string): string =>
  path.replace(/^\/api\/(?:v1\/(?:core\/)?|(?=compat))/, '/').split('/')[1] ?? 'platform';

const securityOf = (requires: RouteDeclaration['requires']): object[] => {
  if (requires === 'public' || requires === 'docs') return [];
  if (requires === 'compat') return [{ apiKey: [] }, { bearer: [] }];
  return requires === 'monitoring' ? [{ apiKey: [] }, { metricsToken: [] }] : [{ apiKey: [] }];
};

const pathParameters = (path: string): object[] =>
  [...path.matchAll(/{(\w+)}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));

const queryParameters = ({ query }: RouteDeclaration, components: Components): object[] => {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = jsonSchemaOf(query, 'input', components) as {
    properties?: Record<string, object>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
};

const headerParameters = (method: string): object[] =>
  method === 'GET'
    ? [
        {
          name: 'x-read-after',
          in: 'header',
          required: false,
          schema: { type: 'string' },
          description: 'Waits until the view has reached this position.',
        },
      ]
    : [
        { name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string', maxLength: 255 } },
        { name: 'If-Match', in: 'header', required: false, schema: { type: 'string' } },
      ];

const bodyContent = ({ schema, files }: NonNullable<RouteDeclaration['body']>, components: Components): object => ({
  'application/json': { schema: jsonSchemaOf(schema, 'input', components) },
  ...(files
    ? {
        'multipart/form-data': {
          schema: {
            type: 'object',
            properties: { file: { type: 'array', items: { type: 'string', format: 'binary' } } },
            additionalProperties: { type: 'string' },
          },
        },
      }
    : {}),
});

/** The codes that a route of this kind may always answer, and its own. */
export const codesOf = (method: string, path: string, declaration: RouteDeclaration): readonly string[] => {
  const write = method !== 'GET';
  const secured = declaration.requires !== 'public' && declaration.requires !== 'docs';
  return [
    'invalid_parameter',
    ...(declaration.body === undefined ? [] : ['invalid_body', 'unknown_field', 'too_large', 'unsupported_media_type']),
    ...(declaration.query !== undefined && 'cursor' in declaration.query.shape ? ['invalid_cursor'] : []),
    ...(secured ? ['unauthenticated', 'forbidden', 'rate_limited'] : []),
    ...(path.includes('{') ? ['not_found'] : []),
    ...(path.includes('{agentId}') ? ['agent_not_granted'] : []),
    ...(write && secured ? ['conflict', 'precondition_failed', 'idempotency_key_reused', 'request_in_progress'] : []),
    ...(declaration.reads === undefined ? [] : ['view_unavailable']),
    ...(declaration.refuses ?? []),
    'internal',
    'unavailable',
  ];
};

const problemResponses = (codes: readonly string[]): Record<string, object> => {
  const byStatus = new Map<number, string[]>();
  for (const code of new Set(codes)) {
    const { status } = (errorRegistry as Record<string, ErrorEntry>)[code] ?? unregistered(code);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, named]) => [
      String(status),
      {
        description: named.map((code) => `\`${code}\``).join(', '),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  );
};

const unregistered = (code: string): never => {
  throw new Error(`the code ${code} is not in the error registry`);
};
