import { isErased, type Json } from '@app/kernel';
import type { Row } from '../read-store';
import type { RowDocument } from './documents';
import type { FreeForm } from './row-schema';

/** How to write the rows of a collection: which fields are indexed, and which hold free-form JSON. */
export interface RowShape {
  readonly indexed: ReadonlySet<string>;
  readonly freeForm: FreeForm | undefined;
}

/**
 * How JSON stands in a document of MongoDB, so that tools read it and it comes back exactly as it was:
 *
 * - Objects and lists stand as themselves, keys in their order; null stands as null, and what is absent is absent.
 * - Text and booleans stand as themselves. A time stays the ISO 8601 text of the API: it orders as time does, and `$toDate` makes a date of it.
 * - A whole number of 32 bits is an `int`, every other number a `double`; both are the one number that JSON knows. A larger whole
 *   number is a `double` too, never a `long`. JSON knows no NaN, no infinity and no -0, and they never come here.
 * - A name that means something to MongoDB or its driver is escaped as in URLs, wherever it stands: `$ref` is `%24ref`, `a.b` is `a%2Eb`.
 * - Free-form JSON, which the row's schema does not describe, is text: `{ json: '{"type":"object"}' }`. So is what a document cannot hold:
 *   what is nested too deep, and text that is not Unicode (a lone surrogate). An object that looks like that is put into one itself.
 *
 * What stands there says by itself how it reads: rows are read without their schema.
 */
const storedValue = (value: Json, freeForm: FreeForm | undefined, depth = 2): unknown => {
  if (typeof value === 'string') return value.isWellFormed() ? value : asText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEEPEST || (freeForm === true && !isErased(value)) || isText(value)) return asText(value);
  const within = freeForm === true ? undefined : freeForm;
  if (Array.isArray(value))
    return (value as readonly Json[]).map((item) => storedValue(item, within?.items, depth + 1));
  const stored: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value))
    stored[storedName(name)] = storedValue(field, within?.fields?.[name] ?? within?.others, depth + 1);
  return stored;
};

/** The scalar that an index holds for a value. Objects become text, and so do lists, which MongoDB would index item by item. */
export const indexedValue = (value: Json | undefined): unknown => {
  if (value === undefined || value === null) return null;
  return typeof value === 'object' ? asText(value) : storedValue(value, undefined);
};

/** Encodes a row as a document. */
export const documentOf = (
  { indexed, freeForm }: RowShape,
  key: string,
  row: Row,
  { position, commit }: { readonly position: string; readonly commit: string },
): RowDocument => {
  const text = JSON.stringify(row);
  const document: { [field: string]: unknown; _id: string; _meta?: RowDocument['_meta'] } = { _id: key };
  const within = freeForm === true ? undefined : freeForm?.fields;
  for (const [name, value] of Object.entries(JSON.parse(text) as Row))
    document[storedName(name)] = indexed.has(name) ? indexedValue(value) : storedValue(value, within?.[name]);
  document._meta = { position, commit, size: text.length };
  return document as RowDocument;
};

/** Decodes the row of a document. */
export const rowOf = ({ _id, _meta, ...fields }: RowDocument): Row => {
  const row: Record<string, Json> = {};
  for (const [name, value] of Object.entries(fields)) setField(row, nameOf(name), jsonOf(value));
  return row;
};

/** Reverses `storedValue` and `indexedValue`. */
const jsonOf = (stored: unknown): Json => {
  if (typeof stored !== 'object' || stored === null) return stored as Json;
  if (Array.isArray(stored)) return stored.map(jsonOf);
  if (isText(stored)) return JSON.parse(stored.json) as Json;
  const value: Record<string, Json> = {};
  for (const [name, field] of Object.entries(stored)) setField(value, nameOf(name), jsonOf(field));
  return value;
};

/** Sets an own field of any name, `__proto__` too. */
const setField = (object: Record<string, Json>, name: string, value: Json): void => {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  else object[name] = value;
};

/** The name of a field in a document. */
export const storedName = (name: string): string => {
  if (!RESERVED.test(name) && name.isWellFormed()) return name;
  return name === '' ? EMPTY : name.replace(ESCAPED, (character) => escapeOf(character.charCodeAt(0)));
};

/** Reverses `storedName`. */
const nameOf = (stored: string): string => {
  if (!stored.includes('%')) return stored;
  return stored === EMPTY
    ? ''
    : stored.replace(ESCAPE, (_, unit?: string, byte?: string) =>
        String.fromCharCode(parseInt(unit ?? byte ?? '', 16)),
      );
};

/** Store deeper JSON as text. A document of MongoDB holds 100 levels. */
const DEEPEST = 64;

interface Text {
  readonly json: string;
}

const asText = (value: Json): Text => ({ json: JSON.stringify(value) });

const isText = (value: object): value is Text =>
  typeof (value as Partial<Text>).json === 'string' && Object.keys(value).length === 1;

/** Names with a dot, a zero or the sign of an escape; of operators and references; of the document's own fields; that JavaScript or the driver take for something else. */
const RESERVED =
  /^$|^\$|[.%\0]|^(?:_id|_meta|_bsontype|__\w+__|constructor|hasOwnProperty|isPrototypeOf|propertyIsEnumerable|toLocaleString|toString|valueOf)$/;
/**
 * What to escape in such a name: a leading `_` or `$`, the first letter of a name that every object has, and characters that are
 * allowed nowhere. The driver (7.x) looks names of lists up in an object of its own, and leaves what it finds there unread.
 */
const ESCAPED =
  /^[_$]|^[chiptv](?=(?:onstructor|asOwnProperty|sPrototypeOf|ropertyIsEnumerable|oLocaleString|oString|alueOf)$)|[.%\0]|(?<![\ud800-\udbff])[\udc00-\udfff]|[\ud800-\udbff](?![\udc00-\udfff])/g;
const ESCAPE = /%u([0-9A-F]{4})|%([0-9A-F]{2})/g;
const EMPTY = '%';

const escapeOf = (unit: number): string => {
  const hex = unit.toString(16).toUpperCase();
  return unit < 0x100 ? `%${hex.padStart(2, '0')}` : `%u${hex.padStart(4, '0')}`;
};
