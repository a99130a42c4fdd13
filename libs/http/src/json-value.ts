import { z } from 'zod';

const json = z.json();

/** Any JSON, under one name in the documentation: `z.json()` refers to itself, and gets a name that nobody chose. */
export const jsonValue = z
  .custom<z.output<typeof json>>((value) => json.safeParse(value).success)
  .meta({ id: 'JsonValue', description: 'A value of any JSON type.' });
