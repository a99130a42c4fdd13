import type { LogReader } from '@app/event-log';
import { type Patience, patiently } from '@app/kernel';

/** The same log, read again where it has gone away, until it answers or patience ends. */
export const patientReader = (log: LogReader, patience: Patience): LogReader => ({
  readStream: (...given) => patiently(() => log.readStream(...given), patience),
  readAll: (...given) => patiently(() => log.readAll(...given), patience),
  head: () => patiently(() => log.head(), patience),
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
