import { defineAggregate, namedIn, ownKey, ownStream } from '@app/kernel';
import { claimForfeited } from '@app/reservations';
import { skillNamesDecider } from './names/skill-names.decider';
import { skillNameEvents } from './names/skill-names.events';
import { skillDecider } from './skill/skill.decider';
import { skillEvents } from './skill/skill.events';
import { skillIntegrations } from './skill/skill.integrations';

const skillAggregate = defineAggregate(skillDecider, [...skillEvents, claimForfeited], {
  erasure: {
    by: { SkillDeleted: ownKey },
    again: (decisions, id, meta) => decisions.transact(skillDecider, id, { type: 'Delete' }, meta),
  },
  integrations: skillIntegrations,
  kinds: {
    skill: ownStream('skill', (first) => [
      ...namedIn('space', 'spaceId')(first),
      ...namedIn('agent', 'agentId')(first),
    ]),
  },
});

/** Hashes and ids alone. */
const skillNamesAggregate = defineAggregate(skillNamesDecider, skillNameEvents);

export const skillsAggregates = [skillAggregate, skillNamesAggregate];
