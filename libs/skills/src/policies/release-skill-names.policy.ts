import { type Clock, CLOCK, reactionTo, type RecordedEvent } from '@app/kernel';
import { type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { SkillNames } from '../names/skill-names';
import type { InstallationEvent } from '../marketplace/installation.events';
import type { SkillEvent } from '../skill/skill.events';

/** Releases the names that a Skill or an installation gave up, if its command died before it could. */
@PolicyHandler()
export class ReleaseSkillNames implements Policy {
  readonly name = 'release-skill-names';
  readonly types = ['SkillRenamed', 'SkillDeleted', 'SkillUninstalled'];

  constructor(
    private readonly names: SkillNames,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async react(recorded: RecordedEvent): Promise<void> {
    const { type, data } = recorded as RecordedEvent &
      Extract<SkillEvent | InstallationEvent, { type: 'SkillRenamed' | 'SkillDeleted' | 'SkillUninstalled' }>;
    const ticket = type === 'SkillRenamed' ? data.released : data.ticket;
    await this.names.release(data.spaceId, ticket, reactionTo(recorded, this.name, this.clock.now()));
  }
}
