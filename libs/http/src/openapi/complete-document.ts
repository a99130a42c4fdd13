import type { OpenAPIObject } from '@nestjs/swagger';

type PathItem = OpenAPIObject['paths'][string];
type Operation = NonNullable<PathItem['get']>;
type RequestBody = Exclude<NonNullable<Operation['requestBody']>, { $ref: string }>;
type Schemas = Record<string, object>;

/**
 * Completes the document of `@nestjs/swagger` with what it cannot know: names of request bodies, media types other
 * than JSON, `PATCH` beside `PUT`, and a stable order.
 */
export const completed = (document: OpenAPIObject, named: Schemas): OpenAPIObject => {
  const schemas = { ...named };
  const paths = Object.fromEntries(
    Object.entries(document.paths)
      .map(([path, item]): [string, PathItem] => [path.replace('{path}', '{modelId}'), item])
      .toSorted(byName)
      .map(([path, item]) => [path, withPatch(eachOperation(item, (operation) => plain(operation, schemas)))]),
  );
  return {
    ...document,
    paths,
    components: { ...document.components, schemas: Object.fromEntries(Object.entries(schemas).toSorted(byName)) },
  } as OpenAPIObject;
};

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

const eachOperation = (item: PathItem, change: (operation: Operation) => Operation): PathItem =>
  Object.fromEntries(Object.entries(item).map(([method, operation]) => [method, change(operation as Operation)]));

/** Documents `PATCH` beside `PUT`: both do the same. */
const withPatch = (item: PathItem): PathItem => {
  if (item.put === undefined) return item;
  const { operationId = '' } = item.put;
  return { ...item, patch: { ...item.put, operationId: operationId.replace(/^[a-z]+/, 'patch') } };
};

/** Parameters that are documented elsewhere: the rest of the path, and the header that chooses a media type. */
const UNNAMED: ReadonlySet<string> = new Set(['*', 'accept']);

const plain = (operation: Operation, schemas: Schemas): Operation => {
  const { operationId = '', parameters = [], requestBody, responses } = operation;
  return {
    ...operation,
    parameters: parameters.filter((parameter) => !('name' in parameter && UNNAMED.has(parameter.name))),
    ...(requestBody === undefined ? {} : { requestBody: namedBody(requestBody as RequestBody, operationId, schemas) }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [
        status,
        withMediaTypes(response as { content?: Content }),
      ]),
    ) as Operation['responses'],
  };
};

type Content = RequestBody['content'];

/** Names the schema of a body after its operation: `createAgent` takes a `CreateAgentRequest`. */
const namedBody = (body: RequestBody, operationId: string, schemas: Schemas): RequestBody => {
  const name = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Request`;
  const json = body.content['application/json'] as { schema: object };
  schemas[name] = json.schema;
  return {
    ...body,
    content: {
      'application/json': { schema: { $ref: `#/components/schemas/${name}` } },
      ...('multipart/form-data' in body.content ? { 'multipart/form-data': { schema: UPLOADED } } : {}),
    },
  };
};

const UPLOADED: NonNullable<Content[string]['schema']> = {
  type: 'object',
  properties: {
    file: { type: 'array', items: { type: 'string', format: 'binary' }, description: 'One file or more.' },
  },
  additionalProperties: { type: 'string' },
};

const withMediaTypes = <Response extends { content?: Content }>(response: Response): Response =>
  response.content === undefined
    ? response
    : {
        ...response,
        content: Object.fromEntries(
          Object.entries(response.content).map(([mediaType, { schema }]) => [
            mediaType,
            { schema: mediaType.endsWith('json') ? schema : { type: 'string' } },
          ]),
        ),
      };
