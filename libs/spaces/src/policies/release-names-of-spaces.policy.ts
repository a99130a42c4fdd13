import { type Clock, CLOCK, reactionTo, type RecordedEvent } from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { type Claim, Reservations } from '@app/reservations';
import { Inject } from '@nestjs/common';

/** Releases the names that a Space gave up, if its command died before it could. */
@PolicyHandler()
export class ReleaseNamesOfSpaces implements Policy {
  readonly name = 'release-names-of-spaces';
  readonly types = ['SpaceChanged', 'SpaceDeleted'];

  constructor(
    private readonly reservations: Reservations,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const { released } = event.data as { readonly released: readonly Claim[] };
    for (const claim of released)
      await this.reservations.release(claim, reactionTo(event, this.name, this.clock.now()));
  }
}
