import { z } from 'zod';

const holding = new WeakSet<z.ZodType>();
const releasing = new WeakSet<z.ZodType>();
const blobName = z.string().min(1);

/** A field of an event's data that names a stored body: the event's aggregate holds it from then on, until an event releases it. */
export const heldBlob = (): z.ZodString => markedAs(blobName.clone(), holding);

/** A field of an event's data that names stored bodies which its aggregate holds no longer. */
export const releasedBlobs = (): z.ZodArray<z.ZodString> => markedAs(z.array(blobName), releasing);

const entered = new WeakSet<z.ZodType>();

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

const markedAs = <T extends z.ZodType>(schema: T, as: WeakSet<z.ZodType>): T => {
  as.add(schema);
  return schema;
};

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
const encrypted = new WeakSet<z.ZodType>();

/**
 * Marks a field of event data, also inside objects and lists, as content that people entered. The whole value is
 * encrypted under the data key of the event's stream before it reaches the log.
 */
export const sensitive = <T extends z.ZodType>(schema: T): z.ZodUnion<readonly [T, typeof erasedSchema]> => {
  const union = z.union([schema, erasedSchema]);
  encrypted.add(union);
  return union;
};

/** The paths of the sensitive fields of an event's data schema: `name`, `public.windowTitle`, `tools[].name`. */
export const sensitiveFields = (schema: z.ZodObject): readonly string[] => markedFields(schema, encrypted);

/** The paths of those fields of an event's data schema whose schemas are marked: `name`, `public.windowTitle`, `tools[].name`. */
export const markedFields = (schema: z.ZodObject, marked: WeakSet<z.ZodType>): readonly string[] =>
  Object.entries(schema.shape).flatMap(([name, field]) => markedIn(field as z.ZodType, name, marked));

const markedIn = (schema: z.ZodType, path: string, marked: WeakSet<z.ZodType>): readonly string[] => {
  const inner = unwrapped(schema);
  if (marked.has(inner)) return [path];
  if (inner instanceof z.ZodArray) return markedIn(inner.element as z.ZodType, `${path}[]`, marked);
  if (inner instanceof z.ZodUnion)
    return [...new Set(inner.options.flatMap((option) => markedIn(option as z.ZodType, path, marked)))];
  return inner instanceof z.ZodObject ? markedFields(inner, marked).map((name) => `${path}.${name}`) : [];
};

const unwrapped = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional || schema instanceof z.ZodNullable
    ? unwrapped(schema.unwrap() as z.ZodType)
    : schema;
