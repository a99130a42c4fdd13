import { EVENT_LOG } from '@app/event-log';
import {
  type Clock,
  CLOCK,
  Decisions,
  eachOfAll,
  idOf,
  isDeleted,
  reactionTo,
  type RecordedEvent,
  stepOf,
  type StreamReader,
} from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { INSTALLATIONS_OF, type SkillsOf } from '../lookups';
import { installationDecider } from '../marketplace/installation.decider';
import type { InstallationEvent } from '../marketplace/installation.events';

type SkillInstalled = RecordedEvent & Extract<InstallationEvent, { type: 'SkillInstalled' }>;

/** Takes away what was installed for a deleted Agent or Space. What is installed meanwhile is handled by its own event. */
@PolicyHandler()
export class UninstallEntriesOfTheDeleted implements Policy {
  readonly name = 'uninstall-entries-of-the-deleted';
  readonly types = ['AgentDeleted', 'SpaceDeleted', 'SkillInstalled'];

  constructor(
    private readonly decisions: Decisions,
    @Inject(EVENT_LOG) private readonly log: StreamReader,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(INSTALLATIONS_OF) private readonly installationsOf: SkillsOf,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const id = idOf(event.context.stream);
    if (event.type !== 'SkillInstalled') {
      const owner = event.type === 'AgentDeleted' ? { agentId: id } : { spaceId: id };
      await eachOfAll(await this.installationsOf(owner, event.context.position), (each) => this.remove(each, event));
    } else if (await this.isOrphaned(event as SkillInstalled)) await this.remove(id, event);
  }

  private async isOrphaned({ data: { agentId, spaceId } }: SkillInstalled): Promise<boolean> {
    return (
      (agentId !== null && (await isDeleted(this.log, `agent-${agentId}`, 'AgentDeleted'))) ||
      isDeleted(this.log, `space-${spaceId}`, 'SpaceDeleted')
    );
  }

  private async remove(installationId: string, event: RecordedEvent): Promise<void> {
    const meta = stepOf(reactionTo(event, this.name, this.clock.now()), installationId);
    await this.decisions.transact(installationDecider, installationId, { type: 'Uninstall' }, meta);
  }
}
