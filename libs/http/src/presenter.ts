import { Expose, plainToInstance, Transform, Type } from 'class-transformer';
import { z } from 'zod';
import { JsonText } from './json-text';

/** Serialises resources of one kind: only fields of the schema are shown. */
export interface Presenter<Source extends object> {
  /** For `@Answers`. */
  readonly schema: z.ZodObject;
  /** The object's JSON; the same object is transformed once. `extra` adds what depends on the caller. */
  (source: Source, extra?: Readonly<Record<string, unknown>>): JsonText;
}

/**
 * Makes a presenter that shows the fields of `schema` and nothing else; `name` names the resource in the
 * documentation. `shape` converts a row to the wire form if they differ. `added` are fields of the schema that `extra`
 * has in every answer, so that the row does not show them, too. The JSON is cached with the row object: stores return
 * the same object as long as the row is unchanged.
 */
export const presenter = <Source extends object>(
  name: string,
  fields: z.ZodObject,
  shape: (source: Source) => object = (source) => source,
  added: readonly string[] = [],
): Presenter<Source> => {
  const schema = fields.meta({ id: name });
  const view = viewClass(Object.entries(schema.shape).filter(([field]) => !added.includes(field)));
  const kept = new WeakMap<Source, JsonText>();
  const present = (source: Source, extra?: Readonly<Record<string, unknown>>): JsonText => {
    let json = kept.get(source);
    if (json === undefined) {
      json = new JsonText(JSON.stringify(plainToInstance(view, shape(source), { excludeExtraneousValues: true })));
      kept.set(source, json);
    }
    return extra === undefined ? json : json.with(extra);
  };
  return Object.assign(present, { schema });
};

type ViewClass = new () => object;
type Row = Readonly<Record<string, unknown>>;

/** A value that is shown as it is, whatever keys it has: class-transformer takes a key `constructor` for its class, and drops `toString`. */
class Shown {}

/** The expose-only class of the fields of a schema; objects inside it, also in arrays, have classes of their own. */
const viewClass = (fields: readonly (readonly [name: string, field: unknown])[]): ViewClass => {
  class View {}
  // What is erased reads `{ "erased": true }` in place of any value.
  Expose()(View.prototype, 'erased');
  for (const [name, field] of fields) {
    Expose()(View.prototype, name);
    const inner = objectIn(field as z.ZodType);
    const innerClass = inner === undefined ? Shown : viewClass(Object.entries(inner.shape));
    Type(() => innerClass)(View.prototype, name);
    const absent = field instanceof z.ZodNullable ? null : undefined;
    if (inner === undefined)
      Transform(({ obj }: { obj: Row }) => valueOr(obj[name], absent, obj))(View.prototype, name);
    else if (absent === null)
      Transform(({ value, obj }: { value: unknown; obj: Row }) => valueOr(value, absent, obj))(View.prototype, name);
  }
  return View;
};

/** A row of an earlier release, shown until its view is rebuilt, lacks fields that came later: those that may be null are null. */
const valueOr = (value: unknown, absent: null | undefined, row: Row): unknown =>
  value === undefined && row['erased'] !== true ? absent : value;

const objectIn = (schema: z.ZodType): z.ZodObject | undefined => {
  if (schema instanceof z.ZodObject) return schema;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return objectIn(schema.unwrap() as z.ZodType);
  return schema instanceof z.ZodArray ? objectIn(schema.element as z.ZodType) : undefined;
};
