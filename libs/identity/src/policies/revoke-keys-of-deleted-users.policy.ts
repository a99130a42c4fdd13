import { EVENT_LOG } from '@app/event-log';
import { type Clock, CLOCK, Decisions, idOf, reactionTo, type RecordedEvent, type StreamReader } from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { apiKeyDecider } from '../api-key/api-key.decider';

/** Views drop the keys of a user with them. One made behind the deletion, by a request that was under way, opens nothing, and is met as its own event. */
@PolicyHandler()
export class RevokeKeysOfDeletedUsers implements Policy {
  readonly name = 'revoke-keys-of-deleted-users';
  readonly types = ['ApiKeyCreated'];

  constructor(
    private readonly decisions: Decisions,
    @Inject(EVENT_LOG) private readonly log: StreamReader,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const user = `user-${String(event.data['userId'])}`;
    const [last] = await this.log.readStream(user, { direction: 'backwards', limit: 1 });
    if (last?.type !== 'UserDeleted') return;
    await this.decisions.transact(
      apiKeyDecider,
      idOf(event.context.stream),
      { type: 'Revoke', withUser: true },
      reactionTo(event, this.name, this.clock.now()),
    );
  }
}
