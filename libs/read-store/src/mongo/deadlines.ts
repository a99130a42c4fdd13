import { Unavailable } from '@app/kernel';
import { explained } from './mongo-errors';

/** Gives work on a server a deadline. Turns errors of the server into `Unavailable`. */
export class Deadlines {
  constructor(private readonly dependency: string) {}

  /** The error of work that was not done, for a transient reason. */
  unavailable(reason: string, cause: unknown): Unavailable {
    return new Unavailable(this.dependency, reason, 'none', { cause });
  }

  /** `outcome`: what is known of the work if it does not end in time. */
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
