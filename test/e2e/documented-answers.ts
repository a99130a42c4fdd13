import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ErrorObject, ValidateFunction } from 'ajv';
import Ajv2020 from 'ajv/dist/2020';

type Content = Readonly<Record<string, { readonly schema: object }>>;

interface Response {
  readonly content?: Content;
  readonly headers?: Readonly<Record<string, object>>;
}

/** What of an OpenAPI document says what is answered. */
export interface AnswersDocument {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Response>> }>>>
  >;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

export interface GivenAnswer {
  /** Lower case. */
  readonly method: string;
  /** As the document writes it: `/api/v1/core/agents/{agentId}`. */
  readonly path: string;
  readonly status: number;
  readonly mediaType: string;
  /** It says `x-view-late`, as the document has it of writes. */
  readonly isLate?: boolean;
  readonly body: unknown;
  /** What `body` was read from, as `JSON.stringify` writes it; absent where others wrote it. */
  readonly text?: string;
}

/** Answers with JSON as a document has them. Each schema is compiled when it is first answered. */
export class DocumentedAnswers {
  // With all faults and what they are about, as some are none. Formats stand beside patterns, which are held to.
  private readonly ajv = new Ajv2020({ ...LENIENT, ...QUICK, allErrors: true, verbose: true });
  private readonly compiled = new Map<string, ValidateFunction>();

  constructor(private readonly document: AnswersDocument) {
    this.ajv.addSchema({ $id: DOCUMENT, components: document.components });
  }

  /** Throws where the document says something else of an answer. What it does not have at all is not in it on purpose. */
  hold({ method, path, status, mediaType, isLate = false, body, text }: GivenAnswer): void {
    const operation = this.document.paths[path]?.[method];
    if (operation === undefined) return;
    const named = `${method.toUpperCase()} ${path}`;
    const { content = {}, headers = {} } = operation.responses[status] ?? {};
    // A file may be JSON, too.
    if (content['*/*'] !== undefined) return;
    const schema = content[mediaType]?.schema;
    if (schema === undefined)
      throw new Error(`${named} answers ${status} as ${mediaType}: the document has no such answer`);
    // Of members of one name, a reader keeps the last.
    if (text !== undefined && JSON.stringify(body).length !== text.length)
      throw new Error(`${named} answers ${status} with members of one name: ${text.slice(0, 1_000)}`);
    const validate = this.validator(schema);
    if (validate(body) || (isLate && headers['x-view-late'] !== undefined && isBare(body))) return;
    const faults = (validate.errors ?? []).filter(({ data }) => !isErased(data)).map(sentence);
    if (faults.length > 0)
      throw new Error(`${named} answers ${status} with what the document does not say:\n${faults.join('\n')}`);
  }

  private validator(schema: object): ValidateFunction {
    // Most answers refer to what others refer to.
    const text = JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${DOCUMENT}#/`);
    const validate = this.compiled.get(text) ?? this.ajv.compile(JSON.parse(text) as object);
    this.compiled.set(text, validate);
    return validate;
  }
}

const DOCUMENT = 'openapi';
/** The document is checked elsewhere. */
const LENIENT = { strict: false, validateSchema: false, validateFormats: false, meta: false };
/** No schema holds so many answers that compiling it well would pay. */
const QUICK = { inlineRefs: false, code: { optimize: false } };

/** What a write answers in place of what it wrote, where a view is late. */
const isBare = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && Object.keys(body).toSorted().join() === 'id,revision';

/** What the document says of every value: it may have been erased while it was read. */
const isErased = (value: unknown): boolean => JSON.stringify(value) === '{"erased":true}';

const sentence = ({ instancePath, message = 'is wrong', params }: ErrorObject): string =>
  `  ${instancePath === '' ? 'the answer' : instancePath} ${message} ${JSON.stringify(params)}`;

const KEPT = Symbol.for('documented answers of the tests');
const kept = globalThis as { [KEPT]?: DocumentedAnswers };

/** Those of the committed document, read once for all files that a process tests. */
export const documentedAnswers = (): DocumentedAnswers =>
  (kept[KEPT] ??= new DocumentedAnswers(
    JSON.parse(readFileSync(join(__dirname, '..', '..', 'docs', 'openapi.json'), 'utf8')) as AnswersDocument,
  ));
