import type { OpenAPIObject } from '@nestjs/swagger';
import type { ConvertedSchema } from './json-schema';
import type { NamedSchemas } from './named-schemas';
import { wildcardOf } from './path-parameters';

type PathItem = OpenAPIObject['paths'][string];
type Operation = NonNullable<PathItem['get']>;
type RequestBody = Exclude<NonNullable<Operation['requestBody']>, { $ref: string }>;

/**
 * Completes the document of `@nestjs/swagger` with what it cannot know: names of request bodies, media types other
 * than JSON, files, `PATCH` beside `PUT`, and a stable order.
 */
export const completed = (document: OpenAPIObject, schemas: NamedSchemas): OpenAPIObject => {
  const paths = Object.fromEntries(
    Object.entries(document.paths)
      .map(([path, item]): [string, PathItem] => [path.replace('{path}', `{${wildcardOf(path)}}`), item])
      .toSorted(byName)
      .map(([path, item]) => [path, withPatch(eachOperation(item, (operation) => plain(operation, schemas)))]),
  );
  return {
    ...document,
    paths,
    components: {
      ...document.components,
      schemas: Object.fromEntries(Object.entries(schemas.components).toSorted(byName)),
    },
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

/** Carries the converted multipart body of an operation through `@nestjs/swagger`, until the document is completed. */
export const MULTIPART = 'x-multipart';
/** Carries what a body is that is taken as it is. */
export const BYTES = 'x-bytes';

interface Carried {
  readonly [MULTIPART]?: ConvertedSchema;
  readonly [BYTES]?: string;
}

const plain = (given: Operation, schemas: NamedSchemas): Operation => {
  const { [MULTIPART]: files, [BYTES]: bytes, ...operation } = given as Operation & Carried;
  const { operationId = '', parameters = [], requestBody, responses } = operation;
  const body = { json: requestBody as RequestBody | undefined, files, bytes };
  return inOrder({
    ...operation,
    parameters: parameters.filter((parameter) => !('name' in parameter && UNNAMED.has(parameter.name))),
    ...(requestBody === undefined && files === undefined ? {} : { requestBody: namedBody(body, operationId, schemas) }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [
        status,
        withMediaTypes(response as { content?: Content }),
      ]),
    ) as Operation['responses'],
  });
};

const inOrder = (operation: Operation): Operation =>
  Object.fromEntries(Object.entries(operation).toSorted(byName)) as Operation;

type Content = RequestBody['content'];

/** A body as JSON, with files, as it is, or several of these. */
interface Body {
  readonly json: RequestBody | undefined;
  readonly files: ConvertedSchema | undefined;
  /** Describes the body that is taken as it is. */
  readonly bytes: string | undefined;
}

/**
 * Names the schemas of a body after its operation: `createDocument` takes a `CreateDocumentRequest` as JSON, or a
 * `CreateDocumentUpload` with files. What is taken with files alone is a `Request` too.
 */
const namedBody = ({ json, files, bytes }: Body, operationId: string, schemas: NamedSchemas): RequestBody => {
  const name = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}`;
  const named = (kind: string, schema: object): Content[string] => {
    schemas.add(`${name}${kind}`, schema as Record<string, unknown>);
    return { schema: { $ref: `#/components/schemas/${name}${kind}` } };
  };
  const sent = json?.content['application/json'] as { schema: object } | undefined;
  return {
    ...(json ?? { required: true }),
    ...(bytes === undefined ? {} : { description: bytes }),
    content: {
      ...(sent === undefined ? {} : { 'application/json': named('Request', sent.schema) }),
      ...(files === undefined
        ? {}
        : { 'multipart/form-data': named(json === undefined ? 'Request' : 'Upload', schemas.take(files)) }),
      ...(bytes === undefined
        ? {}
        : { 'application/octet-stream': { schema: textOrBytes('application/octet-stream') } }),
    },
  };
};

const withMediaTypes = <Response extends { content?: Content }>(response: Response): Response =>
  response.content === undefined
    ? response
    : {
        ...response,
        content: Object.fromEntries(
          Object.entries(response.content).map(([mediaType, { schema }]) => [
            mediaType,
            { schema: mediaType.endsWith('json') ? schema : textOrBytes(mediaType) },
          ]),
        ),
      };

/** Generators make text of a string, and a file of one in this format. */
const textOrBytes = (mediaType: string): object =>
  mediaType.startsWith('text/') ? { type: 'string' } : { type: 'string', format: 'binary' };
