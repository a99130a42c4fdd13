/** Freezes a JSON value in depth. */
export const frozen = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) frozen(part);
    Object.freeze(value);
  }
  return value;
};
