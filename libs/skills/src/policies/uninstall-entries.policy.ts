import { Decisions } from '@app/kernel';
import { DeletionWithOwner, type Policy, PolicyHandler } from '@app/projecting';
import { Inject } from '@nestjs/common';
import { INSTALLATIONS_OF, type SkillsOf } from '../lookups';
import { installationDecider } from '../marketplace/installation.decider';
import { skillInstalled } from '../marketplace/installation.events';

/** Takes away what was installed for a deleted Agent or Space. */
@PolicyHandler()
export class UninstallEntriesOfTheDeleted implements Policy {
  readonly name = 'uninstall-entries-of-the-deleted';
  readonly types: Policy['types'];
  readonly react: Policy['react'];

  constructor(decisions: Decisions, deletion: DeletionWithOwner, @Inject(INSTALLATIONS_OF) installationsOf: SkillsOf) {
    ({ types: this.types, react: this.react } = deletion.of(this.name, {
      with: {
        AgentDeleted: (agentId, position) => installationsOf({ agentId }, position),
        SpaceDeleted: (spaceId, position) => installationsOf({ spaceId }, position),
      },
      made: skillInstalled,
      remove: (id, meta) => decisions.transact(installationDecider, id, { type: 'Uninstall' }, meta),
    }));
  }
}
