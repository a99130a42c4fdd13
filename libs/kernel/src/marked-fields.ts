import { z } from 'zod';

/**
 * Zod passes registry entries on to copies of a schema, such as those that `describe` and `max` make. A `WeakSet` would
 * lose the mark there.
 */
type Marks = z.core.$ZodRegistry<{ readonly isMarked: true }>;

const holding: Marks = z.registry();
const releasing: Marks = z.registry();
const entered: Marks = z.registry();
const encrypted: Marks = z.registry();
const blobName = z.string().min(1);

/**
 * A field of an event's data that names a stored body: from then on the event's aggregate holds it, until an event
 * releases it.
 */
export const heldBlob = (): z.ZodString => markedAs(blobName.clone(), holding);

/** A field of an event's data that names stored bodies that its aggregate releases. */
export const releasedBlobs = (): z.ZodArray<z.ZodString> => markedAs(z.array(blobName), releasing);

/** Marks a schema of text that people enter: `defineEvent` rejects a field of it that is not `sensitive`. */
export const enteredText = <T extends z.ZodType>(schema: T): T => markedAs(schema, entered);

/** The paths of those fields of an event's data schema that hold text which people enter, unencrypted. */
export const plainTextFields = (schema: z.ZodObject): readonly string[] => {
  // Those of an encrypted value lie at its path or below.
  const encryptedPaths = sensitiveFields(schema);
  return markedFields(schema, entered).filter(
    (path) =>
      !encryptedPaths.some(
        (above) => path === above || (/^[.[]/.test(path.slice(above.length)) && path.startsWith(above)),
      ),
  );
};

const markedAs = <T extends z.ZodType>(schema: T, marks: Marks): T => {
  marks.add(schema, { isMarked: true });
  return schema;
};

const has = (marks: Marks, schema: z.ZodType): boolean => marks.get(schema) !== undefined;

/** The fields of an event's data that name stored bodies, as paths. Names are not encrypted. */
export interface BlobFields {
  readonly held: readonly string[];
  readonly released: readonly string[];
}

export const blobFields = (schema: z.ZodObject): BlobFields => ({
  held: markedFields(schema, holding),
  released: markedFields(schema, releasing),
});

const erasedSchema = z.strictObject({
  erased: z.literal(true).describe('The value was erased: its key is destroyed.'),
});

/**
 * Marks a field of event data, also inside objects and lists, as content that people entered. The whole value is
 * encrypted under the data key of the event's stream before it reaches the log.
 */
export const sensitive = <T extends z.ZodType>(schema: T): z.ZodUnion<readonly [T, typeof erasedSchema]> =>
  markedAs(z.union([schema, erasedSchema]), encrypted);

/** The paths of the sensitive fields of an event's data schema: `name`, `public.windowTitle`, `tools[].name`. */
export const sensitiveFields = (schema: z.ZodObject): readonly string[] => markedFields(schema, encrypted);

/**
 * The first field of an event's data schema with a marked schema that no path leads to, as in a record or a tuple:
 * nothing would encrypt it or hold its body. Undefined if there is none. Everything inside an encrypted value is
 * encrypted with it, so the name of a stored body must not stand there.
 */
export const hiddenField = (schema: z.ZodObject): string | undefined => hiddenIn(schema, '');

const hiddenIn = (schema: z.ZodType, path: string): string | undefined => {
  const inner = unwrapped(schema);
  if (has(encrypted, inner)) return holdsMark(inner, [holding, releasing]) ? path : undefined;
  if (inner instanceof z.ZodArray) return hiddenIn(inner.element as z.ZodType, `${path}[]`);
  if (inner instanceof z.ZodUnion) return firstHidden(inner.options.map((option) => [option as z.ZodType, path]));
  if (inner instanceof z.ZodObject)
    return (
      firstHidden(
        Object.entries(inner.shape).map(([name, field]) => [
          field as z.ZodType,
          path === '' ? name : `${path}.${name}`,
        ]),
      ) ?? (inner.def.catchall !== undefined && holdsMark(inner.def.catchall as z.ZodType) ? `${path}.*` : undefined)
    );
  return partsOf(inner).some((part) => holdsMark(part)) ? path : undefined;
};

const firstHidden = (fields: readonly (readonly [z.ZodType, string])[]): string | undefined => {
  for (const [schema, path] of fields) {
    const found = hiddenIn(schema, path);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** Whether a schema or anything within it has one of these marks, also where it refers to itself. */
const holdsMark = (
  schema: z.ZodType,
  sought: readonly Marks[] = [holding, releasing, entered, encrypted],
  seen = new Set<z.ZodType>(),
): boolean => {
  if (seen.has(schema)) return false;
  seen.add(schema);
  return sought.some((marks) => has(marks, schema)) || partsOf(schema).some((part) => holdsMark(part, sought, seen));
};

/** The schemas that a schema is made of; none for one of a single value. */
const partsOf = (schema: z.ZodType): readonly z.ZodType[] => {
  const parts =
    schema instanceof z.ZodLazy
      ? [schema.unwrap()]
      : Object.values(schema.def).flatMap((part: unknown) => (isPlainObject(part) ? Object.values(part) : part));
  return parts.filter((part): part is z.ZodType => part instanceof z.ZodType);
};

const isPlainObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** The paths of those fields of an event's data schema whose schemas are marked: `name`, `public.windowTitle`, `tools[].name`. */
export const markedFields = (schema: z.ZodObject, marked: Marks): readonly string[] =>
  Object.entries(schema.shape).flatMap(([name, field]) => markedIn(field as z.ZodType, name, marked));

const markedIn = (schema: z.ZodType, path: string, marked: Marks): readonly string[] => {
  const inner = unwrapped(schema);
  if (has(marked, inner)) return [path];
  if (inner instanceof z.ZodArray) return markedIn(inner.element as z.ZodType, `${path}[]`, marked);
  if (inner instanceof z.ZodUnion)
    return [...new Set(inner.options.flatMap((option) => markedIn(option as z.ZodType, path, marked)))];
  return inner instanceof z.ZodObject ? markedFields(inner, marked).map((name) => `${path}.${name}`) : [];
};

/** Without what says whether a value is there, or describes it. */
const unwrapped = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodOptional ||
  schema instanceof z.ZodExactOptional ||
  schema instanceof z.ZodNonOptional ||
  schema instanceof z.ZodNullable ||
  schema instanceof z.ZodDefault ||
  schema instanceof z.ZodPrefault ||
  schema instanceof z.ZodReadonly
    ? unwrapped(schema.unwrap() as z.ZodType)
    : schema;
