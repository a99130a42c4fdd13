import type { Message } from './message';

/** Where integration events go. */
export interface Publisher {
  /** Resolves when the brokers hold all messages durably. When it rejects, some may have arrived: all are to be sent again. */
  publish(messages: readonly Message[]): Promise<void>;
  /** Answers in bounded time, with a reason without secrets. */
  health(): Promise<{ readonly ok: boolean; readonly reason?: string }>;
  /** Gives up what is being published. */
  close(): Promise<void>;
}
