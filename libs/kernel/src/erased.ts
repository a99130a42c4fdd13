/** Replaces content whose data key is destroyed (architecture, Sensitive data). */
export interface Erased {
  readonly erased: true;
}

export const ERASED: Erased = Object.freeze({ erased: true as const });

/** A value that is encrypted in its event and may have been erased since. */
export type Sensitive<T> = T | Erased;

/** Whether a value was erased. A stored copy of the mark counts too. */
export const isErased = (value: unknown): value is Erased =>
  typeof value === 'object' &&
  value !== null &&
  (value as { erased?: unknown }).erased === true &&
  Object.keys(value).length === 1;

/** The value, or a fallback where it is erased. */
export const revealed = <T>(value: Sensitive<T>, fallback: T): T => (isErased(value) ? fallback : value);
