import { z } from 'zod';
import { documentedForm } from '../input';

type JsonSchema = Record<string, unknown>;

/** A Zod schema in the form of an OpenAPI document, with the named schemas that it refers to. */
export interface ConvertedSchema {
  readonly schema: JsonSchema;
  readonly components: Record<string, JsonSchema>;
}

/** Converts a Zod schema to JSON Schema 2020-12. A schema named with `meta({ id })` becomes a component. */
export const jsonSchemaOf = (schema: z.ZodType, io: 'input' | 'output'): ConvertedSchema => {
  const text = JSON.stringify(z.toJSONSchema(schema, { io, unrepresentable: 'any', override }));
  const {
    $schema: _,
    $defs = {},
    ...written
  } = JSON.parse(text.replaceAll('"$ref":"#/$defs/', '"$ref":"#/components/schemas/')) as JsonSchema & {
    readonly $defs?: Record<string, JsonSchema>;
  };
  return { schema: written, components: $defs };
};

type Override = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>;

const override: Override = ({ zodSchema, jsonSchema }) => {
  const written = jsonSchema as JsonSchema;
  const documented = documentedForm(zodSchema);
  if (documented !== undefined) replace(written, documented);
  // The bounds of a double are no bounds of ours.
  if (written['maximum'] === Number.MAX_SAFE_INTEGER) delete written['maximum'];
  if (written['minimum'] === Number.MIN_SAFE_INTEGER) delete written['minimum'];
  // JSON Schema knows no encoding of this name; generators know files by their format.
  if (written['format'] === 'binary') delete written['contentEncoding'];
  // Answers may gain fields: a client must not reject those that it does not know. Bodies say that they are strict.
  const { def } = zodSchema._zod;
  if (def.type === 'object' && (def as z.core.$ZodObjectDef).catchall === undefined)
    delete written['additionalProperties'];
};

const replace = (target: JsonSchema, source: JsonSchema): void => {
  for (const key of Object.keys(target)) delete target[key];
  Object.assign(target, source);
};
