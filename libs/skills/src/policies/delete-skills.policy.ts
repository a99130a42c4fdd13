import { Decisions } from '@app/kernel';
import { DeletionWithOwner, type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { SKILLS_OF, type SkillsOf } from '../lookups';
import { skillDecider } from '../skill/skill.decider';
import { skillCreated } from '../skill/skill.events';

/** Deletes the Skills of a deleted Agent or Space. */
@PolicyHandler()
export class DeleteSkillsOfTheDeleted implements Policy {
  readonly name = 'delete-skills-of-the-deleted';
  readonly types: Policy['types'];
  readonly react: Policy['react'];

  constructor(decisions: Decisions, deletion: DeletionWithOwner, @Inject(SKILLS_OF) skillsOf: SkillsOf) {
    ({ types: this.types, react: this.react } = deletion.of(this.name, {
      with: {
        AgentDeleted: (agentId, position) => skillsOf({ agentId }, position),
        SpaceDeleted: (spaceId, position) => skillsOf({ spaceId }, position),
      },
      made: skillCreated,
      remove: (skillId, meta) => decisions.transact(skillDecider, skillId, { type: 'Delete' }, meta),
    }));
  }
}
