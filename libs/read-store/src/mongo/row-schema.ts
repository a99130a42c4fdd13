import type { Schema, SchemaDefinition } from 'mongoose';
import { z } from 'zod';
import { checkedField, checkedIndexName } from '../index-choice';
import type { IndexSpec, ViewSpec } from '../read-store';
import { signOf } from './find-filters';
import { storedName } from './row-codec';

/** The driver. It is loaded only if MongoDB is used. */
type Mongoose = { readonly Schema: typeof Schema };

/** Where in a value there is free-form JSON, which its schema does not describe: `true` for all of it, else in some fields, in those of any other name, or in the items. */
export type FreeForm =
  | true
  | {
      readonly fields?: Readonly<Record<string, FreeForm>>;
      readonly others?: FreeForm;
      readonly items?: FreeForm;
    };

/** The part of JSON Schema that describes rows. */
interface Described {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Described>>;
  readonly additionalProperties?: Described | boolean;
  readonly items?: Described;
  readonly anyOf?: readonly Described[];
  readonly oneOf?: readonly Described[];
}

/**
 * The mongoose schema of a view's documents, from the one declaration of its row: a field has the type that it has in the row, and the
 * indexes are the declared ones. Use it for a model of your own over a collection of the view (docs/mongodb.md). Erased content stands
 * as `{ erased: true }` in its place, whatever its type.
 */
export const rowSchema = (
  { Schema: SchemaOf }: Mongoose,
  { row, indexes }: Pick<ViewSpec, 'row' | 'indexes'>,
): Schema => {
  const meta = { position: String, commit: String, size: Number };
  const fields = row === undefined ? {} : fieldsOf(SchemaOf, described(row));
  // The driver writes rows past this schema. They may hold fields of older events that it does not know.
  const schema = new SchemaOf({ _id: String, ...fields, _meta: meta } as SchemaDefinition, {
    ...OPTIONS,
    strict: false,
    autoIndex: false,
    autoCreate: false,
  });
  for (const index of indexes) for (const { key, options } of keysOf(index)) schema.index(key, options);
  return schema;
};

/** Finds where the rows of a view hold free-form JSON; undefined if nowhere. */
export const freeFormOf = (row: z.ZodObject | undefined): FreeForm | undefined => row && freeFormIn(described(row));

const OPTIONS = {
  typeKey: '$type',
  versionKey: false,
  minimize: false,
  id: false,
  suppressReservedKeysWarning: true,
} as const;

const described = (row: z.ZodObject): Described =>
  z.toJSONSchema(row, { io: 'output', unrepresentable: 'any' }) as Described;

const fieldsOf = (kind: typeof Schema, { properties = {} }: Described): Record<string, unknown> =>
  Object.fromEntries(Object.entries(properties).map(([name, field]) => [storedName(name), typeOf(kind, field)]));

/** The mongoose type of a value; `Mixed` if it has several types or is free-form. */
const typeOf = (kind: typeof Schema, given: Described): unknown => {
  const field = alternativesOf(given).reduce(merged);
  switch (field.type) {
    case 'string':
      return field.enum === undefined ? { $type: String } : { $type: String, enum: field.enum };
    case 'number':
    case 'integer':
      return { $type: Number };
    case 'boolean':
      return { $type: Boolean };
    case 'array':
      return { $type: [typeOf(kind, field.items ?? {})], default: undefined };
    case 'object':
      if (field.properties !== undefined)
        return { $type: new kind(fieldsOf(kind, field) as SchemaDefinition, { ...OPTIONS, _id: false }) };
      return typeof field.additionalProperties === 'object' && !isFreeForm(field.additionalProperties)
        ? { $type: Map, of: typeOf(kind, field.additionalProperties) }
        : kind.Types.Mixed;
    default:
      return kind.Types.Mixed;
  }
};

/** The types of a value, besides null and erased. */
const alternativesOf = (field: Described): readonly [Described, ...Described[]] => {
  const types = [field.type ?? []].flat().filter((type) => type !== 'null');
  const options = field.anyOf ?? field.oneOf ?? types.map((type) => ({ ...field, type }));
  const known = options.filter((option) => option.type !== 'null' && !isErasure(option));
  const [first, ...more] =
    field.anyOf === undefined && field.oneOf === undefined ? known : known.flatMap(alternativesOf);
  return first === undefined ? [{}] : [first, ...more];
};

const isErasure = ({ properties = {} }: Described): boolean =>
  properties['erased']?.const === true && Object.keys(properties).length === 1;

/** Merges two alternatives: objects get the fields of both, values of one type keep it, anything else is unknown. */
const merged = (one: Described, other: Described): Described => {
  if (one.type === undefined || one.type !== other.type) return {};
  if (one.type === 'array') return { type: one.type, items: mergedAll(one.items ?? {}, other.items ?? {}) };
  if (one.type !== 'object') return { type: one.type };
  if (one.properties === undefined || other.properties === undefined) return {};
  const properties: Record<string, Described> = { ...one.properties };
  for (const [name, field] of Object.entries(other.properties))
    properties[name] = properties[name] === undefined ? field : mergedAll(properties[name], field);
  return { type: 'object', properties };
};

const mergedAll = (one: Described, other: Described): Described =>
  [...alternativesOf(one), ...alternativesOf(other)].reduce(merged);

/** True for a schema that describes nothing, or JSON of any form. */
const isFreeForm = (field: Described): boolean =>
  field.$ref !== undefined || !['type', 'enum', 'const', 'anyOf', 'oneOf'].some((word) => word in field);

const freeFormIn = (field: Described): FreeForm | undefined => {
  if (isFreeForm(field)) return true;
  const options = (field.anyOf ?? field.oneOf ?? []).map(freeFormIn);
  const others = typeof field.additionalProperties === 'object' ? freeFormIn(field.additionalProperties) : undefined;
  if (others === true && field.properties === undefined) return true;
  const fields = Object.entries(field.properties ?? {}).map(([name, each]) => [name, freeFormIn(each)] as const);
  const items = field.items && freeFormIn(field.items);
  return together([
    ...options,
    ...fields.map(([name, form]) => form && { fields: { [name]: form } }),
    others && { others },
    items && { items },
  ]);
};

/** Merges paths: free-form in one of them is free-form in all. */
const together = (forms: readonly (FreeForm | undefined)[]): FreeForm | undefined =>
  forms.reduce((one, other) => {
    if (one === undefined || other === undefined) return one ?? other;
    if (one === true || other === true) return true;
    const fields: Record<string, FreeForm> = { ...one.fields };
    for (const [name, form] of Object.entries(other.fields ?? {}))
      fields[name] = together([fields[name], form]) ?? form;
    const [others, items] = [together([one.others, other.others]), together([one.items, other.items])];
    return { ...(Object.keys(fields).length > 0 && { fields }), ...(others && { others }), ...(items && { items }) };
  }, undefined);

/** The indexes of MongoDB for a declared one. The key ends it: ties are in the order of the keys. A unique one has another beside it, in which rows with null or without a value do not count. */
const keysOf = ({ name, fields, unique }: IndexSpec) => {
  const paths = fields.map(({ field, order = 'asc' }) => [checkedField(field), signOf(order)] as const);
  const lookup = {
    key: Object.fromEntries([...paths, ['_id', signOf(fields.at(-1)?.order ?? 'asc')]]),
    options: { name: checkedIndexName(name) },
  };
  if (unique !== true) return [lookup];
  const given = Object.fromEntries(paths.map(([path]) => [path, { $type: GIVEN }]));
  return [
    lookup,
    {
      key: Object.fromEntries(paths),
      options: { name: `${name} is unique`, unique: true, partialFilterExpression: given },
    },
  ];
};

const GIVEN = ['string', 'number', 'bool', 'object'];
