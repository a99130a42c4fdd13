import { canonicalJson } from '@app/kernel';
import type { InputSchema } from './input-schema';

/** Schemas that are held against values, at most: an input may be long, and a schema have many alternatives. */
const MOST_CHECKS = 100_000;

/**
 * What is wrong with an input, as a sentence that names its place; undefined for one that its schema allows. `pattern` and `format`
 * are left to the API: a pattern of somebody else's may take for ever. Of our own, since no library bounds its work.
 */
export const inputFault = (input: unknown, schema: InputSchema): string | undefined => {
  const check = new Check();
  const wrong = check.faultOf(input, schema, '');
  return check.isSpent ? 'The arguments are too large to check. Send less.' : wrong;
};

/** The alternatives of a schema, whose form was checked with its document. */
interface Alternatives {
  readonly allOf?: readonly InputSchema[];
  readonly anyOf?: readonly InputSchema[];
  readonly oneOf?: readonly InputSchema[];
  readonly not?: InputSchema;
}

class Check {
  private left = MOST_CHECKS;

  get isSpent(): boolean {
    return this.left <= 0;
  }

  faultOf(value: unknown, schema: InputSchema, place: string): string | undefined {
    this.left -= 1;
    if (this.isSpent) return undefined;
    const wrong = plainFault(value, schema);
    if (wrong !== undefined) return `${place === '' ? 'The input' : place} ${wrong}.`;
    return (
      (typeof value === 'object' && value !== null
        ? Array.isArray(value)
          ? this.itemFault(value, schema, place)
          : this.propertyFault(value as Readonly<Record<string, unknown>>, schema, place)
        : undefined) ?? this.alternativeFault(value, schema, place)
    );
  }

  private itemFault(value: readonly unknown[], { items }: InputSchema, place: string): string | undefined {
    if (items === undefined) return undefined;
    for (const [index, item] of value.entries()) {
      const wrong = this.faultOf(item, items as InputSchema, `${place}[${index}]`);
      if (wrong !== undefined || this.isSpent) return wrong;
    }
    return undefined;
  }

  private propertyFault(
    value: Readonly<Record<string, unknown>>,
    { properties = {}, required = [], additionalProperties = true }: InputSchema,
    place: string,
  ): string | undefined {
    const at = (name: string): string => (place === '' ? name : `${place}.${name}`);
    for (const name of required as readonly string[]) if (!Object.hasOwn(value, name)) return `${at(name)} is missing.`;
    for (const [name, member] of Object.entries(value)) {
      const schema = Object.hasOwn(properties as object, name)
        ? (properties as Record<string, InputSchema>)[name]
        : additionalProperties;
      if (schema === false) return `${at(name.slice(0, 100))} is unknown.`;
      const wrong = schema === true ? undefined : this.faultOf(member, schema as InputSchema, at(name));
      if (wrong !== undefined || this.isSpent) return wrong;
    }
    return undefined;
  }

  private alternativeFault(value: unknown, schema: InputSchema, place: string): string | undefined {
    const { allOf = [], anyOf, oneOf, not } = schema as Alternatives;
    for (const each of allOf) {
      const wrong = this.faultOf(value, each, place);
      if (wrong !== undefined) return wrong;
    }
    const subject = place === '' ? 'The input' : place;
    const fits = (each: InputSchema): boolean => this.faultOf(value, each, place) === undefined;
    if (anyOf !== undefined && !anyOf.some(fits)) return `${subject} must be one of the alternatives in the schema.`;
    if (oneOf !== undefined && oneOf.filter(fits).length !== 1)
      return `${subject} must be exactly one of the alternatives in the schema.`;
    if (not !== undefined && fits(not)) return `${subject} must not be what the schema excludes.`;
    return undefined;
  }
}

const plainFault = (value: unknown, schema: InputSchema): string | undefined => {
  const { type, enum: values } = schema;
  if (type !== undefined && !(Array.isArray(type) ? type : [type]).some((each) => isOfType(value, each)))
    return `must be ${[type].flat().join(' or ')}`;
  if (Object.hasOwn(schema, 'const') && !isSame(value, schema['const']))
    return `must be ${JSON.stringify(schema['const']).slice(0, 200)}`;
  if (Array.isArray(values) && !values.some((each) => isSame(value, each)))
    return `must be one of ${JSON.stringify(values).slice(0, 500)}`;
  if (typeof value === 'number') return numberFault(value, schema);
  if (typeof value === 'string')
    return sizeFault([...value].length, 'character', schema['minLength'], schema['maxLength']);
  if (Array.isArray(value)) return listFault(value, schema);
  return typeof value === 'object' && value !== null
    ? sizeFault(Object.keys(value).length, 'field', schema['minProperties'], schema['maxProperties'])
    : undefined;
};

const isOfType = (value: unknown, type: unknown): boolean => {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
};

const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === 'object' && typeof b === 'object' && canonicalJson(a) === canonicalJson(b));

const numberFault = (value: number, schema: InputSchema): string | undefined => {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema as Readonly<
    Record<string, number | undefined>
  >;
  if (minimum !== undefined && value < minimum) return `must be at least ${minimum}`;
  if (maximum !== undefined && value > maximum) return `must be at most ${maximum}`;
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return `must be more than ${exclusiveMinimum}`;
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) return `must be less than ${exclusiveMaximum}`;
  // Of fractions, as 0.3 of 0.1, a double cannot tell.
  const isWhole = multipleOf !== undefined && Number.isInteger(multipleOf) && multipleOf > 0;
  return isWhole && value % multipleOf !== 0 ? `must be a multiple of ${multipleOf}` : undefined;
};

const listFault = (value: readonly unknown[], schema: InputSchema): string | undefined =>
  sizeFault(value.length, 'item', schema['minItems'], schema['maxItems']) ??
  (schema['uniqueItems'] === true && new Set(value.map((item) => canonicalJson(item))).size < value.length
    ? 'must not repeat an item'
    : undefined);

const sizeFault = (size: number, unit: string, least: unknown, most: unknown): string | undefined => {
  const units = (count: number): string => `${count} ${unit}${count === 1 ? '' : 's'}`;
  if (typeof least === 'number' && size < least) return `must have at least ${units(least)}`;
  return typeof most === 'number' && size > most ? `must have at most ${units(most)}` : undefined;
};
