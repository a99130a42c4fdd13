import type { JsonSchema } from '@app/models';

/** Bytes of a schema at most. */
const MOST_BYTES = 256 * 1024;
/** Schemas within schemas at most, those that a `$ref` names included. */
const DEEPEST = 64;
/** Most schemas with each `$ref` expanded: a small schema may expand to billions. */
const MOST_SCHEMAS = 10_000;

/** What is wrong with a schema, and where: the path within it. */
export interface SchemaFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Keywords whose value is a schema, a list of schemas, or schemas by name. */
const ONE_OR_LIST = [
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'oneOf',
  'prefixItems',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
];
const BY_NAME = ['$defs', 'definitions', 'dependencies', 'dependentSchemas', 'patternProperties', 'properties'];
const DIALECTS =
  /^https?:\/\/json-schema\.org\/(?:draft\/2020-12\/schema|draft\/2019-09\/schema|draft-0[67]\/schema)#?$/;

type Path = readonly (string | number)[];

/**
 * The part of a foreign schema that is too large or points outside of it; undefined if there is none. `SchemaChecks`
 * decides whether it is a valid schema.
 */
export const faultOfSchema = (schema: JsonSchema): SchemaFault | undefined => {
  if (Buffer.byteLength(JSON.stringify(schema)) > MOST_BYTES)
    return { path: [], message: 'must not be larger than 256 KiB' };
  const dialect = schema['$schema'];
  if (dialect !== undefined && !(typeof dialect === 'string' && DIALECTS.test(dialect)))
    return { path: ['$schema'], message: 'must name JSON Schema 2020-12, 2019-09 or draft-07' };
  try {
    const size = new Walk(schema).size(schema, [], 0);
    return size > MOST_SCHEMAS
      ? { path: [], message: 'must not have more than 10000 schemas, each `$ref` written out' }
      : undefined;
  } catch (error) {
    if (error instanceof Fault) return error.fault;
    throw error;
  }
};

class Fault extends Error {
  constructor(readonly fault: SchemaFault) {
    super(fault.message);
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Goes through the schemas of a schema, into each `$ref`; each is counted once. */
class Walk {
  private readonly sizes = new Map<object, { readonly size: number; readonly height: number }>();
  private readonly open = new Set<object>();

  constructor(private readonly root: JsonSchema) {}

  size(schema: unknown, path: Path, depth: number): number {
    return this.measured(schema, path, depth).size;
  }

  private measured(schema: unknown, path: Path, depth: number): { readonly size: number; readonly height: number } {
    if (!isObject(schema)) return { size: 1, height: 1 };
    if (this.open.has(schema)) throw new Fault({ path, message: 'must not refer to itself' });
    const known = this.sizes.get(schema);
    if (depth + (known?.height ?? 1) > DEEPEST)
      throw new Fault({ path: path.slice(0, 8), message: `must not be more than ${DEEPEST} schemas deep` });
    if (known !== undefined) return known;
    this.open.add(schema);
    let [size, height] = [1, 0];
    for (const [inner, where] of this.inner(schema, path)) {
      const measured = this.measured(inner, where, depth + 1);
      size += measured.size;
      height = Math.max(height, measured.height);
    }
    this.open.delete(schema);
    const values = schema['enum'];
    const counted = { size: size + (Array.isArray(values) ? values.length : 0), height: height + 1 };
    this.sizes.set(schema, counted);
    return counted;
  }

  private *inner(schema: JsonSchema, path: Path): Generator<readonly [unknown, Path]> {
    for (const name of ['$dynamicRef', '$recursiveRef'])
      if (name in schema) throw new Fault({ path: [...path, name], message: 'is not supported: use `$ref`' });
    if ('$id' in schema && path.length > 0)
      throw new Fault({ path: [...path, '$id'], message: 'is not supported within a schema' });
    if ('$ref' in schema) yield [this.target(schema['$ref'], [...path, '$ref']), [...path, '$ref']];
    for (const name of ONE_OR_LIST) {
      const value = schema[name];
      if (Array.isArray(value)) yield* value.map((inner, index) => [inner, [...path, name, index]] as const);
      else if (value !== undefined) yield [value, [...path, name]];
    }
    for (const name of BY_NAME) {
      const value = schema[name];
      if (isObject(value)) yield* Object.keys(value).map((key) => [value[key], [...path, name, key]] as const);
    }
  }

  /** What a `$ref` names: a place in this schema, and nothing else. */
  private target(reference: unknown, path: Path): unknown {
    if (typeof reference !== 'string' || !/^#(?:\/|$)/.test(reference))
      throw new Fault({ path, message: 'must name a place in this schema, such as #/$defs/name: nothing is fetched' });
    let found: unknown = this.root;
    for (const step of reference.split('/').slice(1)) {
      const name = decoded(step);
      found =
        (isObject(found) || Array.isArray(found)) && Object.hasOwn(found, name)
          ? (found as Readonly<Record<string, unknown>>)[name]
          : undefined;
      if (found === undefined) throw new Fault({ path, message: 'names a place that this schema does not have' });
    }
    return found;
  }
}

/** A step of a JSON pointer in a URI. */
const decoded = (step: string): string => {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return step;
  }
};
