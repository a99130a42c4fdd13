import { randomUUID } from 'node:crypto';
import type { NewEvent, Position } from '@app/kernel';
import type { AppendLimits } from '../append-check';
import type { EventLog } from '../event-log';

/** What an adapter gives its contract suite. The log may hold events of others: tests look at streams of their own. */
export interface LogUnderTest {
  /** The log, since the last `reopen` the one that it opened. */
  readonly log: EventLog;
  /** The same log as another process has it, where several may write. */
  readonly beside?: EventLog;
  /** What it takes at most; the limits of the embedded log by default. */
  readonly limits?: AppendLimits;
  /** Where tests begin to look at a log that holds much already; its start by default. */
  readonly after?: Position | null;
  /** Closes the log and opens it again, as a restart does. */
  reopen(): Promise<EventLog>;
  /** Closes it and removes what the test made, if that can be removed. */
  dispose(): Promise<void>;
}

/** The log that a suite's tests share. */
export type GetLog = () => LogUnderTest;

/** A category of streams that no other test uses. */
export const newCategory = (): string => `test${randomUUID().replaceAll('-', '')}`;

export const newEvent = (given: Partial<NewEvent> = {}): NewEvent => ({
  id: randomUUID(),
  type: 'Noted',
  data: '{"text":"x"}',
  metadata: '{"schema":"1"}',
  ...given,
});

export const newEvents = (count: number, given: Partial<NewEvent> = {}): NewEvent[] =>
  Array.from({ length: count }, () => newEvent(given));

/** A test's body with the log and a category of its own. */
export const withLog =
  (shared: GetLog, body: (log: EventLog, category: string, harness: LogUnderTest) => Promise<void>) =>
  (): Promise<void> =>
    body(shared().log, newCategory(), shared());
