import type { z } from 'zod';
import { type ConvertedSchema, jsonSchemaOf } from './json-schema';

/** The schemas of one document: a name stands for one schema. */
export class NamedSchemas {
  readonly components: ConvertedSchema['components'] = {};

  convert(schema: z.ZodType, io: 'input' | 'output'): ConvertedSchema {
    const converted = jsonSchemaOf(schema, io);
    this.take(converted);
    return converted;
  }

  /** Takes what a converted schema refers to, and gives the schema. */
  take({ schema, components }: ConvertedSchema): ConvertedSchema['schema'] {
    for (const [name, component] of Object.entries(components)) this.add(name, component);
    return schema;
  }

  /** Throws if the name stands for another schema. */
  add(name: string, schema: ConvertedSchema['schema']): void {
    const known = this.components[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`two schemas are named ${name} in the OpenAPI document; name one of them otherwise`);
    this.components[name] = schema;
  }
}
