import { type Erased, isErased, nameSchema, revealed, sensitive } from '@app/kernel';
import {
  DocumentFault,
  MOST_OPERATIONS,
  operationsOrFault,
  OWN_TOOLS,
  SHORTEST_SECRET,
  type ToolOperation,
  toolNameOf,
} from '@app/tools';
import { z } from 'zod';

/** Most characters of the OpenAPI documents of one Agent, as JSON. */
const MOST_CHARACTERS = 256 * 1024;

const fields = {
  id: z
    .string()
    .regex(/^[\w.-]{1,100}$/, 'must be an identifier')
    .describe('The id of the tool. The names of its operations start with it.'),
  name: nameSchema(100).describe('Its name.'),
  enabled: z.boolean().describe('Whether the Agent can call it.'),
  approval: z.enum(['never', 'always']).describe("Whether each call needs the user's approval."),
};
const kind = z
  .enum(['http', 'knowledge'])
  .describe('`http`: operations of an HTTP API. `knowledge`: search in Knowledge.');

const openApiDocument = z
  .record(z.string(), z.unknown())
  // Stored as text: keys such as `$ref` are none that every store takes.
  .transform((document) => JSON.stringify(document))
  .refine((text) => text.length <= MOST_CHARACTERS, {
    message: `must have at most ${MOST_CHARACTERS} characters`,
    abort: true,
  })
  .describe('Its OpenAPI document, 3.0 or 3.1.');

/** `http(s)`, a host, a port and a path: no credentials, query or fragment, and no slash at the end. */
const baseUrl = z
  .string()
  .trim()
  .max(500)
  .transform((text, context) => {
    const url = URL.parse(text);
    const isPlain =
      url !== null &&
      ['http:', 'https:'].includes(url.protocol) &&
      `${url.username}${url.password}${url.search}${url.hash}` === '' &&
      !/%(?:2e|2f|5c)/i.test(url.pathname);
    if (isPlain) return url.href.replace(/\/+$/, '');
    context.addIssue({
      code: 'custom',
      message: 'must be an address such as https://api.example.com/v1, without credentials, query or fragment',
    });
    return z.NEVER;
  })
  .describe('The base URL of its paths. The `servers` of the document are not used.');

const secret = z
  .string()
  .min(SHORTEST_SECRET)
  .max(4_000)
  .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, 'must be printable ASCII, without spaces around it')
  .nullable()
  .describe(
    'The credential for the security schemes of the document: an API key, a token, or `user:password`. It is never shown. If absent, the tool keeps its secret; null removes it.',
  );

const httpTool = z
  .strictObject({
    document: openApiDocument,
    baseUrl,
    secret: secret.optional(),
    hasSecret: z.boolean().optional().describe('Whether it has a secret. Ignored in requests.'),
  })
  .transform(({ document, baseUrl: address, secret: given }) => ({
    document,
    baseUrl: address,
    ...(given === undefined ? {} : { secret: given }),
  }))
  .describe('The HTTP API, for tools of the kind `http`.');

const tool = z.strictObject({ ...fields, kind, http: httpTool.optional() });
type Tool = z.output<typeof tool>;

/** The tools of an Agent as requests name them. */
export const toolsInput = z
  .array(tool)
  .max(100)
  .superRefine((tools, context) => {
    const fault = toolsFault(tools);
    if (fault !== undefined) context.addIssue({ code: 'custom', ...fault });
  })
  .describe('Its tools.');

interface ToolsFault {
  readonly path?: (string | number)[];
  readonly message: string;
}

/** What is wrong with a list whose tools are each right. */
const toolsFault = (tools: readonly Tool[]): ToolsFault | undefined => {
  if (new Set(tools.map(({ id }) => id)).size < tools.length) return { message: 'must not name a tool twice' };
  const odd = tools.findIndex(({ kind: given, http }) => (given === 'http') !== (http !== undefined));
  if (odd >= 0) return { path: [odd, 'http'], message: 'must be given for tools of the kind http, and only for them' };
  if (tools.filter(({ kind: given }) => given === 'knowledge').length > 1)
    return { message: 'must have at most one tool of the kind knowledge' };
  if (tools.reduce((sum, { http }) => sum + (http?.document.length ?? 0), 0) > MOST_CHARACTERS)
    return { message: `must have documents of at most ${MOST_CHARACTERS} characters in total` };
  return operationsFault(tools);
};

const operationsFault = (tools: readonly Tool[]): ToolsFault | undefined => {
  const names = new Set(OWN_TOOLS);
  for (const [index, tool] of tools.entries()) {
    const fault = tool.http === undefined ? undefined : httpFault(tool.id, tool.http, names);
    if (fault !== undefined) return { path: [index, 'http', ...fault.path], message: fault.message };
  }
  return undefined;
};

/** `names`: those that the Agent's tools have already; its own join them. */
const httpFault = (
  id: string,
  { document, secret: given }: z.output<typeof httpTool>,
  names: Set<string>,
): Required<ToolsFault> | undefined => {
  const operations = operationsOrFault(JSON.parse(document));
  if (operations instanceof DocumentFault)
    return { path: ['document', ...operations.place], message: operations.message };
  for (const { name, place } of operations) {
    const toolName = toolNameOf(id, name);
    if (names.has(toolName))
      return {
        path: ['document', ...place, 'operationId'],
        message: `must be different: models would see it as ${toolName}, like another operation`,
      };
    names.add(toolName);
  }
  if (names.size > MOST_OPERATIONS + OWN_TOOLS.size)
    return { path: ['document', 'paths'], message: `must give the Agent at most ${MOST_OPERATIONS} operations` };
  return secretFault(given, operations);
};

const secretFault = (given: unknown, operations: readonly ToolOperation[]): Required<ToolsFault> | undefined => {
  if (typeof given !== 'string') return undefined;
  const uses = operations.flatMap((operation) => operation.secret ?? []);
  if (uses.length === 0)
    return { path: ['secret'], message: 'is not needed: no operation of the document requires security' };
  return uses.some(({ kind: use }) => use === 'basic') && !given.includes(':')
    ? { path: ['secret'], message: 'must be user:password, for HTTP basic' }
    : undefined;
};

/** A tool of an Agent in events: what people wrote is encrypted. The kind was free once. */
export const storedTool = z.strictObject({
  ...fields,
  name: sensitive(fields.name),
  kind: z.string().regex(/^[a-z][a-zA-Z-]{0,39}$/, 'must be a kind of tool'),
  http: z
    .strictObject({
      document: sensitive(z.string()),
      baseUrl: sensitive(z.string()),
      /** Sealed (`ToolSecrets`): whoever reads the event with its content does not read the secret. */
      secret: sensitive(z.string()).optional(),
    })
    .optional(),
});
export type StoredTool = z.output<typeof storedTool>;

/** A tool in views, which hold no secret. What people wrote may be erased. */
export const toolRow = storedTool
  .extend({
    name: fields.name,
    http: z.object({ document: z.string(), baseUrl: z.string(), hasSecret: z.boolean() }).exactOptional(),
  })
  .strip();

/** A tool as it stands in a view. */
export const rowOfTool = ({ http, ...plain }: StoredTool) => ({
  ...plain,
  ...(http === undefined
    ? {}
    : { http: { document: http.document, baseUrl: http.baseUrl, hasSecret: http.secret !== undefined } }),
});

/** A tool as the API shows it. */
export const shownTool = toolRow.extend({
  kind: z.string().describe('Its kind: `http` or `knowledge`. Other kinds come from earlier versions and do nothing.'),
  http: z
    .object({
      baseUrl: z.string().describe('The base URL of its paths.'),
      hasSecret: z.boolean().describe('Whether it has a secret. The secret is never shown.'),
      document: z.record(z.string(), z.unknown()).optional().describe('Its OpenAPI document. Not included in lists.'),
    })
    .optional()
    .describe('The HTTP API, for tools of the kind `http`.'),
});

/** What a change says of a tool: a secret that is absent stays, null removes it, and a text is sealed. */
export type ToolChange = Omit<StoredTool, 'http'> & {
  readonly http?:
    | {
        readonly document: string | Erased;
        readonly baseUrl: string | Erased;
        readonly secret?: string | Erased | null | undefined;
      }
    | undefined;
};

/**
 * Adds the kept secrets to the tools of a change. A secret belongs to one tool and one base URL, so nobody who does
 * not know it can have it sent elsewhere. Calls `orElse` with the place of a tool whose secret cannot be kept.
 */
export const withSecrets = (
  tools: readonly ToolChange[],
  present: readonly StoredTool[],
  orElse: (index: number) => void,
): StoredTool[] =>
  tools.map(({ http, ...plain }, index) => {
    if (http === undefined) return plain;
    const { secret: given, ...api } = http;
    if (typeof given === 'string') return { ...plain, http: { ...api, secret: given } };
    const before = present.find(({ id }) => id === plain.id)?.http;
    if (given !== undefined || before?.secret === undefined) return { ...plain, http: api };
    if (revealed(before.baseUrl, '') === revealed(api.baseUrl, '') && !isErased(before.secret))
      return { ...plain, http: { ...api, secret: before.secret } };
    orElse(index);
    return { ...plain, http: api };
  });
