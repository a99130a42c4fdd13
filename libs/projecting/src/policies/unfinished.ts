import { LOGGER } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';

/** Answers whose process died are to end within 10 s, of which their claims take five. */
const EVERY_MS = 2_000;

/** Something that finishes what requests left unfinished. */
export interface Finisher {
  readonly name: string;
  readonly finish: () => Promise<unknown>;
}

/** Finishes what requests left unfinished whose process died, or whose stores went away, and that nobody sent again: what no event says is missing, so that no policy would see it. Modules add what they leave. */
@Injectable()
export class UnfinishedWork {
  private readonly finishers: Finisher[] = [];
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<unknown> | undefined;

  constructor(@Inject(LOGGER) private readonly logger: { warn(facts: object, message: string): void }) {}

  add(finisher: Finisher): void {
    this.finishers.push(finisher);
  }

  start(): void {
    this.timer = setInterval(() => {
      this.running ??= this.finishAll().finally(() => (this.running = undefined));
    }, EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  /** What cannot be finished now is next time. */
  async finishAll(): Promise<void> {
    for (const { name, finish } of this.finishers)
      await finish().catch((error: unknown) =>
        this.logger.warn({ work: name, error }, 'Finishing abandoned work failed; retrying.'),
      );
  }
}
