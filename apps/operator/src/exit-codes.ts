/** Exit codes (wire, command line). */
export const EXIT = { done: 0, failed: 1, wrongUsage: 2, foundWrong: 3 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure that a person can act on. It is printed as one sentence, without a stack. */
export class Failure extends Error {
  override readonly name = 'Failure';

  constructor(
    message: string,
    readonly exitCode: ExitCode = EXIT.failed,
  ) {
    super(message);
  }
}

/** A file that cannot be read, or not any more. */
export class Unreadable extends Failure {}
