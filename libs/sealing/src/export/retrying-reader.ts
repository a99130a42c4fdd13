import type { LogReader } from '@app/event-log';
import { type RetryOptions, retry } from '@app/kernel';

/** The same log; a read is retried while its server does not answer, within `options`. */
export const retryingReader = (log: LogReader, options: RetryOptions): LogReader => ({
  readStream: (...given) => retry(() => log.readStream(...given), options),
  readAll: (...given) => retry(() => log.readAll(...given), options),
  head: () => retry(() => log.head(), options),
  close: () => log.close(),
  get isShared() {
    return log.isShared;
  },
  get notice() {
    return log.notice;
  },
  get unsound() {
    return log.unsound;
  },
});
