import { fault, type Fields, isFields, member, type Place } from './document-fault';

/** Deepest nesting of a document, references not followed. */
const MOST_LEVELS = 64;
/** Most values in a document. */
const MOST_VALUES = 50_000;
/** Longest chain of references that refer to references. */
const LONGEST_CHAIN = 16;

/** A value of a document where it stands: behind a reference, that is elsewhere. */
export interface Found {
  readonly value: unknown;
  readonly place: Place;
}

/** Checks a whole document: neither deep nor endless, and each `$ref` of it refers to itself. Throws a `DocumentFault`. */
export const checkReferences = (document: Fields): void => {
  const open: Found[] = [{ value: document, place: [] }];
  let values = 0;
  for (let found = open.pop(); found !== undefined; found = open.pop()) {
    const { value, place } = found;
    if (typeof value !== 'object' || value === null) continue;
    if (place.length > MOST_LEVELS) fault(place, `must not be nested more than ${MOST_LEVELS} levels deep`);
    const isList = Array.isArray(value);
    for (const [name, inner] of Object.entries(value)) {
      values += 1;
      if (values > MOST_VALUES) fault([], `must have at most ${MOST_VALUES} values`);
      const at = [...place, isList ? Number(name) : name];
      if (name === '$ref' && typeof inner === 'string' && !isLocal(inner))
        fault(at, 'must refer to this document, as in #/components/schemas/Name; nothing else is fetched');
      open.push({ value: inner, place: at });
    }
  }
};

const isLocal = (reference: string): boolean => reference.startsWith('#/');

/** The value, or what its `$ref` refers to. Throws a `DocumentFault` where that is nothing, or refers back to itself. */
export const resolved = (document: Fields, { value, place }: Found): Found => {
  let found: Found = { value, place };
  for (let steps = 0; ; steps += 1) {
    const reference = isFields(found.value) ? member(found.value, '$ref') : undefined;
    if (typeof reference !== 'string') return found;
    if (steps === LONGEST_CHAIN) return fault([...place, '$ref'], 'must lead to something that is no reference');
    found = referredTo(document, reference, [...found.place, '$ref']);
  }
};

const referredTo = (document: Fields, reference: string, place: Place): Found => {
  const at: (string | number)[] = [];
  let value: unknown = document;
  for (const step of reference.slice(2).split('/')) {
    const name = unescaped(step);
    const next =
      name !== undefined && typeof value === 'object' && value !== null ? member(value as Fields, name) : undefined;
    if (name === undefined || next === undefined)
      return fault(place, 'must name something that stands in this document');
    at.push(Array.isArray(value) ? Number(name) : name);
    value = next;
  }
  return { value, place: at };
};

/** One step of a JSON pointer in a URI fragment (RFC 6901, section 6); undefined where it is malformed. */
const unescaped = (step: string): string | undefined => {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
};
