import { type Clock, CLOCK, Decisions, idOf, isDomainError, reactionTo, type RecordedEvent } from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { apiKeyDecider } from '../api-key/api-key.decider';

/**
 * Grants an Agent to the key that created it, if the request died before it could. A revoked key gets nothing, nor does
 * one that was given other Agents since: this may be late, and what was taken does not come back. The chat Agent that
 * was made with a user is not the creator's.
 */
@PolicyHandler()
export class GrantAgentsToTheirKeys implements Policy {
  readonly name = 'grant-agents-to-their-keys';
  readonly types = ['AgentCreated'];

  constructor(
    private readonly decisions: Decisions,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const [kind, keyId = ''] = event.context.actor.split(':');
    if (kind !== 'key' || event.data['automatic'] === true) return;
    const { stream, position } = event.context;
    try {
      await this.decisions.transact(
        apiKeyDecider,
        keyId,
        { type: 'GrantAgent', agentId: idOf(stream), unlessSaidAfter: position },
        reactionTo(event, this.name, this.clock.now()),
      );
    } catch (error) {
      if (!isDomainError(error, 'not_found')) throw error;
    }
  }
}
