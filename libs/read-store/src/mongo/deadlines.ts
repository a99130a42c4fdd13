import { Unavailable } from '@app/kernel';
import { explained } from './mongo-errors';

/** Bounds work on a server in time. Errors of the server read as `Unavailable`. */
export class Deadlines {
  constructor(private readonly dependency: string) {}

  /** What has not happened for a reason that passes. */
  unavailable(reason: string, cause: unknown): Unavailable {
    return new Unavailable(this.dependency, reason, 'none', { cause });
  }

  /** `outcome` says what is known of the work when its end is not seen. */
  async within<T>(milliseconds: number, work: () => Promise<T>, outcome: Unavailable['outcome']): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Unavailable(this.dependency, 'MongoDB does not answer in time', outcome)),
        Math.max(1, milliseconds),
      );
    });
    try {
      return await Promise.race([work(), late]);
    } catch (error) {
      throw explained(this.dependency, error, outcome);
    } finally {
      clearTimeout(timer);
    }
  }
}
