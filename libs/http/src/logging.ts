import { isDomainError } from '@app/kernel';
import type { LoggerService } from '@nestjs/common';
import pino, { type DestinationStream, type Logger } from 'pino';

/** Writes JSON lines to standard output. Log ids, codes and numbers; never names, content, query values or secrets. */
export const makeLogger = (
  level: string,
  destination: DestinationStream = pino.destination({ dest: 1, sync: false }),
): Logger =>
  pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: safeError, err: safeError },
    },
    destination,
  );

/** The form of an error's name, which libraries log in place of the error. */
const ERROR_NAME = /^[A-Z][A-Za-z]{0,60}$/;

/** An error as its name, code and stack frames. Leaves out the message, which may repeat what people entered. */
export const safeError = (error: unknown): object => {
  if (typeof error === 'string' && ERROR_NAME.test(error)) return { name: error };
  if (!(error instanceof Error)) return { name: typeof error };
  const { code } = error as { code?: unknown };
  const places = (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .map((line) => line.trim());
  return {
    name: error.name,
    ...(typeof code === 'string' ? { code } : {}),
    at: places.slice(0, 12),
    ...(error.cause === undefined ? {} : { cause: safeError(error.cause) }),
  };
};

/** Writes Nest's messages to the same log. They name only our classes and routes. */
export const nestLogger = (logger: Logger): LoggerService => ({
  log: (message: unknown) => logger.debug({ message: String(message) }, 'nest'),
  warn: (message: unknown) => logger.warn({ message: String(message) }, 'nest'),
  // A failed start ends the process, which prints a sentence about it.
  error: (message: unknown, ...rest: readonly unknown[]) =>
    // Of an answer that broke off, since what it was made of was deleted.
    isDomainError(message, 'not_found') ||
    rest.at(-1) === 'ExceptionHandler' ||
    String(message).startsWith('Error: listen ') ||
    logger.error(message instanceof Error ? { error: message } : { message: String(message) }, 'nest'),
});
