/** A place in an OpenAPI document, from its root. */
export type Place = readonly (string | number)[];

/** What an OpenAPI document has that no tool can be made of. `message` is a predicate: `must be a string`. */
export class DocumentFault extends Error {
  override readonly name = 'DocumentFault';

  constructor(
    readonly place: Place,
    message: string,
  ) {
    super(message);
  }
}

export const fault = (place: Place, message: string): never => {
  throw new DocumentFault(place, message);
};

export type Fields = Readonly<Record<string, unknown>>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const fieldsAt = (value: unknown, place: Place): Fields =>
  isFields(value) ? value : fault(place, 'must be an object');

/** A member of an object of the document; what is inherited is none. */
export const member = (fields: Fields, name: string): unknown =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

export const textAt = (value: unknown, place: Place, most: number): string => {
  if (typeof value !== 'string') return fault(place, 'must be a string');
  return value.length <= most ? value : fault(place, `must have at most ${most} characters`);
};
