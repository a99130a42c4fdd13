import { type Clock, CLOCK, reactionTo, type RecordedEvent } from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { type Claim, Reservations } from '@app/reservations';
import { Inject } from '@nestjs/common';

/** Releases the mail addresses that users gave up, if their command died before it could. */
@PolicyHandler()
export class ReleaseMailAddresses implements Policy {
  readonly name = 'release-mail-addresses';
  readonly types = ['UserChanged', 'UserDeleted'];

  constructor(
    private readonly reservations: Reservations,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const released = (event.type === 'UserDeleted' ? event.data['mailClaim'] : event.data['releasedMailClaim']) as
      Claim | undefined;
    if (released !== undefined)
      await this.reservations.release(released, reactionTo(event, this.name, this.clock.now()));
  }
}
