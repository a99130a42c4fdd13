import type { LoggerService } from '@nestjs/common';
import pino, { type DestinationStream, type Logger } from 'pino';

/** JSON lines, on standard output. What is logged are ids, codes and numbers: no names, content, query values or secrets. */
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

/** What libraries name an error by where they log no more of it. */
const ERROR_NAME = /^[A-Z][A-Za-z]{0,60}$/;

/** An error without its message, which may repeat what people entered: its names, codes and places in the code. */
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

/** Nest's own messages through the same log. They name classes and routes of ours only. */
export const nestLogger = (logger: Logger): LoggerService => ({
  log: (message: unknown) => logger.debug({ message: String(message) }, 'nest'),
  warn: (message: unknown) => logger.warn({ message: String(message) }, 'nest'),
  // What stands in the way of a start, or of listening, ends the process, which says it in a sentence.
  error: (message: unknown, ...rest: readonly unknown[]) =>
    rest.at(-1) === 'ExceptionHandler' ||
    String(message).startsWith('Error: listen ') ||
    logger.error(message instanceof Error ? { error: message } : { message: String(message) }, 'nest'),
});
