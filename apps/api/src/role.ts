/** One of the three things that a process may run, beside what it answers over HTTP. */
export interface Role {
  start(): Promise<void>;
  /** Resolves when what is in hand has ended. */
  stop(): Promise<void>;
}
