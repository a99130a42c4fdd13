import { z } from 'zod';
import { documentedForm } from '../http/input';

type JsonSchema = Record<string, unknown>;

/** Named schemas of a document, collected while its parts are written. */
export type Components = Record<string, JsonSchema>;

/** A Zod schema as JSON Schema 2020-12; what it names with `meta({ id })` goes to `components` and is referred to. */
export const jsonSchemaOf = (schema: z.ZodType, io: 'input' | 'output', components: Components): JsonSchema => {
  const written = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const documented = documentedForm(zodSchema);
      if (documented !== undefined) replace(jsonSchema as JsonSchema, documented);
    },
  }) as JsonSchema;
  const { $schema: _, $defs = {}, ...rest } = written;
  for (const [name, definition] of Object.entries($defs as Components))
    components[name] = referred(definition) as JsonSchema;
  const own = referred(rest) as JsonSchema;
  if (typeof own['id'] !== 'string') return own;
  const { id, ...named } = own;
  components[id as string] = named;
  return { $ref: `#/components/schemas/${id as string}` };
};

const replace = (target: JsonSchema, source: JsonSchema): void => {
  for (const key of Object.keys(target)) delete target[key];
  Object.assign(target, source);
};

/** Points references into `components` and drops the ids that named them. */
const referred = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(referred);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === '$ref' && typeof member === 'string'
        ? member.replace('#/$defs/', '#/components/schemas/')
        : referred(member),
    ]),
  );
};
