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
import { SKILLS_OF, type SkillsOf } from '../lookups';
import { skillDecider } from '../skill/skill.decider';
import type { SkillEvent } from '../skill/skill.events';

type SkillCreated = RecordedEvent & Extract<SkillEvent, { type: 'SkillCreated' }>;

/** Deletes the Skills of a deleted Agent or Space. One that is created meanwhile is handled by its own event. */
@PolicyHandler()
export class DeleteSkillsOfTheDeleted implements Policy {
  readonly name = 'delete-skills-of-the-deleted';
  readonly types = ['AgentDeleted', 'SpaceDeleted', 'SkillCreated'];

  constructor(
    private readonly decisions: Decisions,
    @Inject(EVENT_LOG) private readonly log: StreamReader,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(SKILLS_OF) private readonly skillsOf: SkillsOf,
  ) {}

  async react(event: RecordedEvent): Promise<void> {
    const id = idOf(event.context.stream);
    if (event.type !== 'SkillCreated') {
      const owner = event.type === 'AgentDeleted' ? { agentId: id } : { spaceId: id };
      await eachOfAll(await this.skillsOf(owner, event.context.position), (skillId) => this.remove(skillId, event));
    } else if (await this.isOrphaned(event as SkillCreated)) await this.remove(id, event);
  }

  private async isOrphaned({ data: { agentId, spaceId } }: SkillCreated): Promise<boolean> {
    return (
      (agentId !== null && (await isDeleted(this.log, `agent-${agentId}`, 'AgentDeleted'))) ||
      isDeleted(this.log, `space-${spaceId}`, 'SpaceDeleted')
    );
  }

  private async remove(skillId: string, event: RecordedEvent): Promise<void> {
    const meta = stepOf(reactionTo(event, this.name, this.clock.now()), skillId);
    await this.decisions.transact(skillDecider, skillId, { type: 'Delete' }, meta);
  }
}
