import { isUnavailable } from './errors';

/** The part of a structured logger that is used here (pino's shape). Facts are ids, names and numbers, never content. */
export interface Logger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** The name of an error, for logs: its message may hold content. */
export const errorName = (error: unknown): string => (error instanceof Error ? error.name : typeof error);

/**
 * The reason of a failure, for logs: the sentence of an unavailable store, which has no content, otherwise the name
 * of the error.
 */
export const reasonOf = (error: unknown): string => (isUnavailable(error) ? error.message : errorName(error));
