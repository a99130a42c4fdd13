import { z } from 'zod';

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
  schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? unwrapped(schema.unwrap() as z.ZodType) : schema;
