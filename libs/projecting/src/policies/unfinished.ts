import { LOGGER, settlesWithin } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';

/** Answers whose process died are to end within 10 s, of which their claims take five. */
const EVERY_MS = 2_000;
/** How long a start waits for what is done before the first request. */
const AT_START_MS = 10_000;

/** Something that finishes what requests left unfinished. */
export interface Finisher {
  readonly name: string;
  readonly finish: () => Promise<unknown>;
  /** Done before the first request, too. */
  readonly isAtStart?: true;
}

/**
 * Finishes the work of requests whose process died or whose stores became unavailable, and which nobody repeated. No
 * event says what is missing, so no policy would see it. Modules add their kinds of unfinished work.
 */
@Injectable()
export class UnfinishedWork {
  private readonly finishers: Finisher[] = [];
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<unknown> | undefined;

  constructor(@Inject(LOGGER) private readonly logger: { warn(facts: object, message: string): void }) {}

  add(finisher: Finisher): void {
    this.finishers.push(finisher);
  }

  /** Resolves once what is done at the start is done, or takes too long. */
  async start(): Promise<void> {
    this.running = this.finishEach(this.finishers.filter(({ isAtStart }) => isAtStart)).finally(
      () => (this.running = undefined),
    );
    await settlesWithin(AT_START_MS, this.running);
    this.timer = setInterval(() => {
      this.running ??= this.finishAll().finally(() => (this.running = undefined));
    }, EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  /** What cannot be finished now is next time. */
  finishAll(): Promise<void> {
    return this.finishEach(this.finishers);
  }

  private async finishEach(finishers: readonly Finisher[]): Promise<void> {
    for (const { name, finish } of finishers)
      await finish().catch((error: unknown) =>
        this.logger.warn({ work: name, error }, 'Finishing abandoned work failed; retrying.'),
      );
  }
}
