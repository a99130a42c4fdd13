import { type AnyEvent, type Decider, type Decisions, isUnavailable, streamOf } from '@app/kernel';
import { VAULT, type Vault } from '@app/vault';
import { Inject, Injectable } from '@nestjs/common';

/**
 * Destroys the keys of aggregates that were to be made and were rejected, after bodies of theirs were stored: so nobody can read what
 * may be left of those.
 */
@Injectable()
export class UnusedKeys {
  constructor(@Inject(VAULT) private readonly vault: Pick<Vault, 'keys' | 'destroy'>) {}

  /** Only for ids that nothing else will use. What has an event keeps its key, and so does all while a store is away. */
  async destroy<State, Command, Event extends AnyEvent>(
    decisions: Pick<Decisions, 'load'>,
    decider: Decider<State, Command, Event>,
    ids: readonly string[],
  ): Promise<void> {
    try {
      const made = await this.vault.keys(ids.map((id) => streamOf(decider.category, id)));
      for (const id of ids) {
        const stream = streamOf(decider.category, id);
        if (made.has(stream) && (await decisions.load(decider, id)).position === null)
          await this.vault.destroy({ stream });
      }
    } catch (error) {
      if (!isUnavailable(error)) throw error;
    }
  }
}
