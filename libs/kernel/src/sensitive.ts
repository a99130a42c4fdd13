import { z } from 'zod';
import { markedFields } from './marked-fields';

/** What is read in place of content whose data key is destroyed (architecture, Sensitive data). */
export interface Erased {
  readonly erased: true;
}

export const ERASED: Erased = Object.freeze({ erased: true as const });

/** A value that is encrypted in its event and may have been erased since. */
export type Sensitive<T> = T | Erased;

export const isErased = (value: unknown): value is Erased =>
  typeof value === 'object' &&
  value !== null &&
  (value as { erased?: unknown }).erased === true &&
  Object.keys(value).length === 1;

/** The value, or a fallback where it is erased. */
export const revealed = <T>(value: Sensitive<T>, fallback: T): T => (isErased(value) ? fallback : value);

const erasedSchema = z.strictObject({
  erased: z.literal(true).describe('The value was erased: its key is destroyed.'),
});
const marked = new WeakSet<z.ZodType>();

/**
 * Marks a field of an event's data, at the top or inside its objects and lists, as content that people entered: it is
 * encrypted under the data key of the event's stream before it reaches the log. The whole value is encrypted, whatever its shape.
 */
export const sensitive = <T extends z.ZodType>(schema: T): z.ZodUnion<readonly [T, typeof erasedSchema]> => {
  const union = z.union([schema, erasedSchema]);
  marked.add(union);
  return union;
};

/** The paths of the sensitive fields of an event's data schema: `name`, `public.windowTitle`, `tools[].name`. */
export const sensitiveFields = (schema: z.ZodObject): readonly string[] => markedFields(schema, marked);
