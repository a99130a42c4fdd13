import { fault, type Fields, fieldsAt, isFields, member, type Place } from './document-fault';
import { type Found, resolved } from './references';

/** A JSON Schema without references, of the keywords below alone. */
export type InputSchema = Readonly<Record<string, unknown>>;

/** Deepest nesting of a schema, references followed. */
const MOST_LEVELS = 32;
/** Most schemas of the inputs of all operations together, references followed, and most characters in them: the model reads them at every call. */
const MOST_SCHEMAS = 4_000;
const MOST_CHARACTERS = 200_000;

/** Counts over all operations of a document. */
export interface SchemaCount {
  schemas: number;
  characters: number;
}

/** Keywords whose values are taken as they are. */
const PLAIN = [
  'type',
  'enum',
  'const',
  'default',
  'title',
  'description',
  'format',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
] as const;
const NUMBERS: ReadonlySet<string> = new Set(PLAIN.filter((name) => /^m(in|ax|ul)/.test(name)));
const TEXTS: ReadonlySet<string> = new Set(['title', 'description', 'format', 'pattern']);
const LISTS = ['allOf', 'anyOf', 'oneOf'] as const;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

/**
 * A schema of an OpenAPI document (3.0 or 3.1) as JSON Schema, with what it refers to in place of references. Throws a
 * `DocumentFault` for one that contains itself, is too deep or too large, or whose keywords have values of other types. Keywords
 * that are not known here are left out: they describe more than they forbid, and the API checks what it is sent.
 */
export const inputSchema = (document: Fields, found: Found, count: SchemaCount): InputSchema =>
  new Expansion(document, count).schema(found, []);

class Expansion {
  constructor(
    private readonly document: Fields,
    private readonly count: SchemaCount,
  ) {}

  /** `inside`: the schemas that it stands in. */
  schema(found: Found, inside: readonly unknown[]): InputSchema {
    const { value, place } = resolved(this.document, found);
    this.count.schemas += 1;
    if (this.count.schemas > MOST_SCHEMAS)
      return fault(found.place, `must not bring the inputs to more than ${MOST_SCHEMAS} schemas, references followed`);
    if (value === true) return {};
    const schema = fieldsAt(value, place);
    if (inside.includes(schema))
      return fault(found.place, 'must not contain itself: recursive schemas are not supported');
    if (inside.length === MOST_LEVELS)
      return fault(found.place, `must not be nested more than ${MOST_LEVELS} levels deep`);
    const around = [...inside, schema];
    const plain = plainOf(schema, place);
    this.count.characters += JSON.stringify(plain).length;
    if (this.count.characters > MOST_CHARACTERS)
      return fault(found.place, `must not bring the inputs to more than ${MOST_CHARACTERS} characters`);
    const overridden = isFields(found.value) && value !== found.value ? member(found.value, 'description') : undefined;
    return nullable(
      {
        ...plain,
        ...(typeof overridden === 'string' ? { description: overridden } : {}),
        ...this.propertiesOf(schema, place, around),
        ...this.listsOf(schema, place, around),
        ...this.singlesOf(schema, place, around),
      },
      schema,
    );
  }

  private propertiesOf(schema: Fields, place: Place, inside: readonly unknown[]): InputSchema {
    const properties = member(schema, 'properties');
    const required = member(schema, 'required');
    if (required !== undefined && !isTextList(required))
      return fault([...place, 'required'], 'must be a list of strings');
    if (properties === undefined) return required === undefined ? {} : { required };
    const at = [...place, 'properties'];
    const declared = fieldsAt(properties, at);
    const entries = Object.entries(declared).flatMap(([name, value]) => {
      const isReadOnly = isFields(value) && member(value, 'readOnly') === true;
      return isReadOnly ? [] : [[name, this.schema({ value, place: [...at, name] }, inside)] as const];
    });
    const sent = new Set(entries.map(([name]) => name));
    const asked = (required ?? []).filter((name) => sent.has(name) || !Object.hasOwn(declared, name));
    return { properties: Object.fromEntries(entries), ...(asked.length === 0 ? {} : { required: asked }) };
  }

  private listsOf(schema: Fields, place: Place, inside: readonly unknown[]): InputSchema {
    return Object.fromEntries(
      LISTS.flatMap((keyword) => {
        const list = member(schema, keyword);
        if (list === undefined) return [];
        const at = [...place, keyword];
        if (!Array.isArray(list) || list.length === 0) return fault(at, 'must be a list of schemas');
        return [[keyword, list.map((value, index) => this.schema({ value, place: [...at, index] }, inside))]];
      }),
    );
  }

  private singlesOf(schema: Fields, place: Place, inside: readonly unknown[]): InputSchema {
    return Object.fromEntries(
      ['items', 'not', 'additionalProperties'].flatMap((keyword): [string, unknown][] => {
        const value = member(schema, keyword);
        if (value === undefined) return [];
        if (keyword === 'additionalProperties' && typeof value === 'boolean') return [[keyword, value]];
        return [[keyword, this.schema({ value, place: [...place, keyword] }, inside)]];
      }),
    );
  }
}

const plainOf = (schema: Fields, place: Place): InputSchema =>
  Object.fromEntries(
    PLAIN.flatMap((keyword) => {
      const value = member(schema, keyword);
      if (value === undefined) return [];
      const wrong = wrongness(keyword, value);
      return wrong === undefined ? [[keyword, value]] : fault([...place, keyword], wrong);
    }),
  );

const wrongness = (keyword: string, value: unknown): string | undefined => {
  if (keyword === 'type')
    return [value].flat().every((each) => TYPES.has(each)) ? undefined : 'must be a type of JSON Schema, or a list';
  if (keyword === 'enum') return Array.isArray(value) ? undefined : 'must be a list of values';
  if (TEXTS.has(keyword)) return typeof value === 'string' ? undefined : 'must be a string';
  // A boolean says, in OpenAPI 3.0, how `minimum` and `maximum` are meant.
  if (keyword.startsWith('exclusive') && typeof value === 'boolean') return undefined;
  if (NUMBERS.has(keyword) || keyword.startsWith('exclusive'))
    return typeof value === 'number' ? undefined : 'must be a number';
  return undefined;
};

/** What OpenAPI 3.0 says otherwise than JSON Schema: `nullable`, and `exclusiveMinimum: true` beside `minimum`. */
const nullable = (written: InputSchema, schema: Fields): InputSchema => {
  const { exclusiveMinimum, exclusiveMaximum, minimum, maximum, type, ...others } = written;
  const bounds = {
    ...bound('minimum', 'exclusiveMinimum', minimum, exclusiveMinimum),
    ...bound('maximum', 'exclusiveMaximum', maximum, exclusiveMaximum),
  };
  const isNullable = member(schema, 'nullable') === true && type !== undefined;
  const types = isNullable ? [...new Set([type, 'null'].flat())] : type;
  return {
    ...(types === undefined ? {} : { type: types }),
    ...others,
    ...(isNullable && Array.isArray(others['enum']) ? { enum: [...new Set([...(others['enum'] as []), null])] } : {}),
    ...bounds,
  };
};

const bound = (name: string, exclusiveName: string, value: unknown, exclusive: unknown): InputSchema => {
  if (exclusive === true) return value === undefined ? {} : { [exclusiveName]: value };
  return {
    ...(value === undefined ? {} : { [name]: value }),
    ...(typeof exclusive === 'number' ? { [exclusiveName]: exclusive } : {}),
  };
};

const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');
