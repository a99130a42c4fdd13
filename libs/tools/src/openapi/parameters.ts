import { fault, type Fields, fieldsAt, member, type Place, textAt } from './document-fault';
import { type InputSchema, inputSchema, type SchemaCount } from './input-schema';
import { type Found, resolved } from './references';

export type ParameterPlace = 'path' | 'query' | 'header';

/** How a value that is a list or an object is written (Parameter Object, `style`). */
export type ParameterStyle = 'simple' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject' | 'json';

export interface OperationParameter {
  readonly in: ParameterPlace;
  readonly name: string;
  readonly required: boolean;
  readonly style: ParameterStyle;
  readonly explode: boolean;
  readonly schema: InputSchema;
}

/** Headers that the product sends, that steer the connection or name who asks, and that no document may set (RFC 9110, Fetch). */
const OURS =
  /^(?:accept|accept-encoding|authorization|connection|content-.*|cookie2?|expect|forwarded|host|http2-settings|keep-alive|origin|proxy-.*|sec-.*|te|trailer|transfer-encoding|upgrade|user-agent|via|x-forwarded-.*|x-real-ip|x-http-method.*|x-method-override)$/;
const TOKEN = /^[!#$%&'*+.^_`|~\w-]{1,100}$/;

/** True for the name of a header that a document may have a tool send. */
export const isHeaderName = (name: string): boolean => TOKEN.test(name) && !OURS.test(name.toLowerCase());

/** Parameters that OpenAPI says to leave out (Parameter Object, `name`). */
const isLeftOut = (name: string): boolean => /^(?:accept|content-type|authorization)$/i.test(name);

/** Most parameters of one operation. */
const MOST_PARAMETERS = 50;
const STYLES: Readonly<Record<ParameterPlace, readonly ParameterStyle[]>> = {
  path: ['simple'],
  header: ['simple'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
};

/** The parameters of an operation, and those of its path that it does not name itself. Throws a `DocumentFault`. */
export const parametersOf = (
  document: Fields,
  lists: readonly Found[],
  count: SchemaCount,
): readonly OperationParameter[] => {
  const byName = new Map<string, OperationParameter>();
  for (const { value, place } of lists) {
    if (value === undefined) continue;
    if (!Array.isArray(value)) return fault(place, 'must be a list');
    const own = new Set<string>();
    for (const [index, each] of value.entries()) {
      const found = resolved(document, { value: each, place: [...place, index] });
      const parameter = parameterAt(document, found, count);
      if (parameter === undefined) continue;
      const key = `${parameter.in} ${parameter.in === 'header' ? parameter.name.toLowerCase() : parameter.name}`;
      if (own.has(key)) return fault(found.place, 'must not be given twice');
      own.add(key);
      byName.set(key, parameter);
      if (byName.size > MOST_PARAMETERS) return fault(place, `must have at most ${MOST_PARAMETERS} parameters`);
    }
  }
  return [...byName.values()];
};

const parameterAt = (document: Fields, { value, place }: Found, count: SchemaCount): OperationParameter | undefined => {
  const fields = fieldsAt(value, place);
  const name = textAt(member(fields, 'name'), [...place, 'name'], 100);
  if (name === '' || !name.isWellFormed()) return fault([...place, 'name'], 'must be a name');
  const required = member(fields, 'required') === true;
  const at = placeOf(member(fields, 'in'), name, required, place);
  if (at === undefined) return undefined;
  if (at === 'path' && !required) return fault([...place, 'required'], 'must be true, since it stands in the path');
  const { schema, isJson } = schemaOf(document, fields, place, count);
  const style = isJson ? 'json' : styleOf(member(fields, 'style'), at, place);
  const explode = member(fields, 'explode') ?? style === 'form';
  const description = member(fields, 'description');
  return {
    in: at,
    name,
    required,
    style,
    explode: explode === true,
    schema: typeof description === 'string' ? { description: description.slice(0, 1_000), ...schema } : schema,
  };
};

/** Undefined for what is left out. */
const placeOf = (value: unknown, name: string, required: boolean, place: Place): ParameterPlace | undefined => {
  if (value === 'path' || value === 'query') return value;
  if (value === 'header') {
    if (isLeftOut(name)) return undefined;
    return isHeaderName(name) ? value : fault([...place, 'name'], 'must be the name of a header that a tool may send');
  }
  if (value === 'cookie') return required ? fault([...place, 'in'], 'must not be cookie: tools send none') : undefined;
  return fault([...place, 'in'], 'must be path, query or header');
};

const styleOf = (value: unknown, at: ParameterPlace, place: Place): ParameterStyle => {
  const styles = STYLES[at];
  const style = styles.find((each) => each === (value ?? styles[0]));
  return style ?? fault([...place, 'style'], `must be ${styles.join(' or ')}`);
};

const schemaOf = (
  document: Fields,
  fields: Fields,
  place: Place,
  count: SchemaCount,
): { readonly schema: InputSchema; readonly isJson: boolean } => {
  const value = member(fields, 'schema');
  if (value !== undefined)
    return { schema: inputSchema(document, { value, place: [...place, 'schema'] }, count), isJson: false };
  const content = member(fields, 'content');
  if (content === undefined) return fault([...place, 'schema'], 'is missing');
  const json = member(fieldsAt(content, [...place, 'content']), 'application/json');
  if (json === undefined) return fault([...place, 'content'], 'must be application/json');
  const at = [...place, 'content', 'application/json'];
  const inner = member(fieldsAt(json, at), 'schema') ?? {};
  return { schema: inputSchema(document, { value: inner, place: [...at, 'schema'] }, count), isJson: true };
};
