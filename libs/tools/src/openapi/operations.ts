import { DocumentFault, fault, type Fields, fieldsAt, member, type Place, textAt } from './document-fault';
import { type InputSchema, inputSchema, type SchemaCount } from './input-schema';
import { type OperationParameter, parametersOf } from './parameters';
import { checkReferences, type Found, resolved } from './references';
import { type SecretUse, secretUseOf } from './security';

export type Method = 'GET' | 'PUT' | 'POST' | 'DELETE' | 'PATCH' | 'HEAD';

/** A parameter and the field of the input that holds it. */
export interface InputParameter extends OperationParameter {
  readonly field: string;
}

export interface OperationBody {
  readonly mediaType: 'application/json' | 'application/x-www-form-urlencoded' | 'text/plain';
  readonly required: boolean;
}

/** One operation of an API, as a tool calls it. */
export interface ToolOperation {
  /** `operationId`, or made of method and path. */
  readonly name: string;
  readonly place: Place;
  readonly method: Method;
  /** Behind the base URL: begins with a slash, with `{name}` where a parameter stands. */
  readonly path: string;
  readonly description: string;
  readonly parameters: readonly InputParameter[];
  readonly body: OperationBody | undefined;
  readonly secret: SecretUse | undefined;
  /** Of an object with a field for each parameter, and `body`. */
  readonly inputSchema: InputSchema;
}

/** Most operations of one document. */
export const MOST_OPERATIONS = 100;
const METHODS: Readonly<Record<string, Method>> = {
  get: 'GET',
  put: 'PUT',
  post: 'POST',
  delete: 'DELETE',
  patch: 'PATCH',
  head: 'HEAD',
};
const BODIES = ['application/json', 'application/x-www-form-urlencoded', 'text/plain'] as const;
/** The field of an input that is sent as the body. */
export const BODY = 'body';

/** The operations of an OpenAPI document, 3.0 or 3.1, in its order. Throws a `DocumentFault` that names the place of what cannot be called. */
export const operationsOf = (document: unknown): readonly ToolOperation[] => {
  const root = fieldsAt(document, []);
  const version = member(root, 'openapi');
  if (typeof version !== 'string' || !/^3\.[01]\.\d+$/.test(version))
    return fault(['openapi'], 'must be the version of OpenAPI: 3.0 or 3.1, such as 3.1.0');
  checkReferences(root);
  const paths = fieldsAt(member(root, 'paths'), ['paths']);
  const count: SchemaCount = { schemas: 0, characters: 0 };
  const operations = Object.entries(paths).flatMap(([path, value]) =>
    path.startsWith('x-') ? [] : operationsAt(root, path, value, count),
  );
  if (operations.length === 0) return fault(['paths'], 'must have an operation');
  if (operations.length > MOST_OPERATIONS) return fault(['paths'], `must have at most ${MOST_OPERATIONS} operations`);
  const known = new Map<string, ToolOperation>();
  for (const operation of operations) {
    if (known.has(operation.name))
      return fault(
        [...operation.place, 'operationId'],
        `must be given once: ${operation.name.slice(0, 64)} is another`,
      );
    known.set(operation.name, operation);
  }
  return operations;
};

const operationsAt = (root: Fields, path: string, value: unknown, count: SchemaCount): readonly ToolOperation[] => {
  const at = ['paths', path];
  if (!isCallablePath(path))
    return fault(
      at,
      'must be a path: a slash, then steps, without query, fragment, white space, backslash or dot steps',
    );
  const found = resolved(root, { value, place: at });
  const item = fieldsAt(found.value, found.place);
  return Object.keys(item).flatMap((key) => {
    if (key === 'options' || key === 'trace' || key === 'query')
      return fault([...found.place, key], 'must be left out: tools call GET, PUT, POST, DELETE, PATCH and HEAD');
    const method = METHODS[key];
    if (method === undefined || !Object.hasOwn(METHODS, key)) return [];
    return [operationAt(root, { path, method, item: found, place: [...found.place, key] }, count)];
  });
};

/** Nothing that another reader of the address takes for its end, or for a step upwards. */
const isCallablePath = (path: string): boolean =>
  path.length <= 500 &&
  /^\/[^\s?#\\\p{Cc}]*$/u.test(path) &&
  path.isWellFormed() &&
  !/%(?:2e|2f|5c)/i.test(path) &&
  path.split('/').every((step) => step !== '.' && step !== '..');

interface OperationPlace {
  readonly path: string;
  readonly method: Method;
  readonly item: Found;
  readonly place: Place;
}

const operationAt = (
  root: Fields,
  { path, method, item, place }: OperationPlace,
  count: SchemaCount,
): ToolOperation => {
  const shared = item.value as Fields;
  const operation = fieldsAt(member(shared, method.toLowerCase()), place);
  const parameters = parametersOf(
    root,
    [
      { value: member(shared, 'parameters'), place: [...item.place, 'parameters'] },
      { value: member(operation, 'parameters'), place: [...place, 'parameters'] },
    ],
    count,
  );
  checkPathParameters(path, parameters, place);
  const body = bodyOf(root, operation, place, count);
  const secret = secretUseOf(root, operation, place);
  const sent = withFields(
    parameters.filter((parameter) => !holdsSecret(parameter, secret)),
    body !== undefined,
  );
  return {
    name: nameOf(operation, method, path, place),
    place,
    method,
    path,
    description: descriptionOf(operation, shared),
    parameters: sent,
    body: body?.sent,
    secret,
    inputSchema: inputOf(sent, body),
  };
};

/** A model has no say in what the secret is. */
const holdsSecret = ({ in: at, name }: OperationParameter, secret: SecretUse | undefined): boolean =>
  secret !== undefined &&
  'name' in secret &&
  (secret.kind === 'header'
    ? at === 'header' && name.toLowerCase() === secret.name.toLowerCase()
    : at === 'query' && name === secret.name);

const nameOf = (operation: Fields, method: Method, path: string, place: Place): string => {
  const id = member(operation, 'operationId');
  if (id === undefined) return `${method.toLowerCase()}${path}`;
  const name = textAt(id, [...place, 'operationId'], 200);
  return /[\p{L}\p{N}]/u.test(name) && name.isWellFormed()
    ? name
    : fault([...place, 'operationId'], 'must have a letter or a digit');
};

const descriptionOf = (operation: Fields, shared: Fields): string => {
  const said = [member(operation, 'summary') ?? member(shared, 'summary'), member(operation, 'description')];
  const texts = said.filter((text) => typeof text === 'string' && text.trim() !== '') as string[];
  return [...new Set(texts)].join('\n').slice(0, 1_024).toWellFormed();
};

const checkPathParameters = (path: string, parameters: readonly OperationParameter[], place: Place): void => {
  const inPath = [...path.matchAll(/\{([^{}]*)\}/g)].map((match) => match[1] as string);
  const literal = path.replaceAll(/\{[^{}]*\}/g, '');
  if (/[{}]/.test(literal)) fault(place, 'must have a path whose braces are paired');
  const declared = new Set(parameters.filter((each) => each.in === 'path').map(({ name }) => name));
  const missing = inPath.find((name) => !declared.has(name));
  if (missing !== undefined)
    fault([...place, 'parameters'], `must declare the path parameter ${missing.slice(0, 100)}`);
  const unused = [...declared].find((name) => !inPath.includes(name));
  if (unused !== undefined) fault([...place, 'parameters'], `has a path parameter that is not in the path: ${unused}`);
};

interface Body {
  readonly sent: OperationBody;
  readonly schema: InputSchema;
}

const bodyOf = (root: Fields, operation: Fields, place: Place, count: SchemaCount): Body | undefined => {
  const value = member(operation, 'requestBody');
  if (value === undefined) return undefined;
  const found = resolved(root, { value, place: [...place, 'requestBody'] });
  const request = fieldsAt(found.value, found.place);
  const at = [...found.place, 'content'];
  const content = fieldsAt(member(request, 'content'), at);
  for (const mediaType of BODIES) {
    const media = Object.keys(content).find((key) => (key.split(';')[0] as string).trim().toLowerCase() === mediaType);
    if (media === undefined) continue;
    const inner = fieldsAt(content[media], [...at, media]);
    const schema = { value: member(inner, 'schema') ?? {}, place: [...at, media, 'schema'] };
    return {
      sent: { mediaType, required: member(request, 'required') === true },
      schema: inputSchema(root, schema, count),
    };
  }
  return fault(at, `must be one of ${BODIES.join(', ')}`);
};

/** Gives each parameter a field of the input, in the grammar that models take, and none the field of another. */
const withFields = (parameters: readonly OperationParameter[], hasBody: boolean): readonly InputParameter[] => {
  const taken = new Set(hasBody ? [BODY] : []);
  return parameters.map((parameter) => {
    const plain = parameter.name.replaceAll(/[^\w.-]/g, '_').slice(0, 50);
    let field = plain;
    for (let number = 1; taken.has(field); number += 1)
      field = number === 1 ? `${parameter.in}_${plain}` : `${parameter.in}_${plain}_${number}`;
    taken.add(field);
    return { ...parameter, field };
  });
};

const inputOf = (parameters: readonly InputParameter[], body: Body | undefined): InputSchema => {
  const required = [
    ...parameters.filter((parameter) => parameter.required).map(({ field }) => field),
    ...(body?.sent.required === true ? [BODY] : []),
  ];
  return {
    type: 'object',
    properties: Object.fromEntries([
      ...parameters.map(({ field, schema }) => [field, schema] as const),
      ...(body === undefined ? [] : [[BODY, body.schema] as const]),
    ]),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
};

/** As `operationsOf`, with what is wrong in place of them. */
export const operationsOrFault = (document: unknown): readonly ToolOperation[] | DocumentFault => {
  try {
    return operationsOf(document);
  } catch (error) {
    if (error instanceof DocumentFault) return error;
    throw error;
  }
};
