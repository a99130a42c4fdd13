import { fault, type Fields, fieldsAt, isFields, member, type Place } from './document-fault';
import { resolved } from './references';
import { isHeaderName } from './parameters';

/** Where the secret of a tool goes in a request. */
export type SecretUse =
  { readonly kind: 'bearer' | 'basic' } | { readonly kind: 'header' | 'query'; readonly name: string };

/**
 * How an operation takes the secret: the first of its alternatives that needs one secret, or none. Undefined where none is
 * asked for. Throws a `DocumentFault` where every alternative is of another kind.
 */
export const secretUseOf = (document: Fields, operation: Fields, place: Place): SecretUse | undefined => {
  const own = member(operation, 'security');
  const security = own ?? member(document, 'security');
  const at = own === undefined ? ['security'] : [...place, 'security'];
  if (security === undefined) return undefined;
  if (!Array.isArray(security)) return fault(at, 'must be a list');
  if (security.length === 0) return undefined;
  const alternatives = security.map((value, index) => Object.keys(fieldsAt(value, [...at, index])));
  for (const [name, ...others] of alternatives) {
    if (name === undefined) continue;
    const use = schemeNamed(document, name, at);
    if (use !== undefined && others.length === 0) return use;
  }
  return alternatives.some((names) => names.length === 0)
    ? undefined
    : fault(at, 'must allow an API key in a header or in the query, or HTTP bearer or basic, by itself');
};

const schemeNamed = (document: Fields, name: string, place: Place): SecretUse | undefined => {
  const components = member(document, 'components');
  const schemes = isFields(components) ? member(components, 'securitySchemes') : undefined;
  const value = isFields(schemes) ? member(schemes, name) : undefined;
  if (value === undefined) return fault(place, 'must name a scheme of components.securitySchemes');
  const found = resolved(document, { value, place: ['components', 'securitySchemes', name] });
  return useOf(fieldsAt(found.value, found.place), found.place);
};

const useOf = (scheme: Fields, place: Place): SecretUse | undefined => {
  const type = member(scheme, 'type');
  if (type === 'http') {
    const kind = String(member(scheme, 'scheme')).toLowerCase();
    return kind === 'bearer' || kind === 'basic' ? { kind } : undefined;
  }
  if (type !== 'apiKey') return undefined;
  const kind = member(scheme, 'in');
  const name = member(scheme, 'name');
  if (typeof name !== 'string' || name === '' || name.length > 100)
    return fault([...place, 'name'], 'must be a name of 1 to 100 characters');
  if (kind === 'query') return { kind, name };
  if (kind !== 'header') return undefined;
  if (name.toLowerCase() !== 'authorization' && !isHeaderName(name))
    return fault([...place, 'name'], 'must be the name of a header that a tool may send');
  return { kind, name };
};
