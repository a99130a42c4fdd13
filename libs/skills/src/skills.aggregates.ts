import { defineAggregate, namedIn, ownKey, ownStream } from '@app/kernel';
import { claimForfeited } from '@app/reservations';
import { entryDecider } from './marketplace/entry.decider';
import { entryEvents } from './marketplace/entry.events';
import { installationDecider } from './marketplace/installation.decider';
import { installationEvents } from './marketplace/installation.events';
import { entryIntegrations, installationIntegrations } from './marketplace/marketplace.integrations';
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

/** Archived, never erased: its key is nobody's, so that no deletion takes it along. */
const entryAggregate = defineAggregate(entryDecider, entryEvents, {
  erasure: { by: {}, again: 'withOwner' },
  integrations: entryIntegrations,
  kinds: { skillEntry: ownStream('skillEntry') },
});

/** Ids alone. */
const installationAggregate = defineAggregate(installationDecider, [...installationEvents, claimForfeited], {
  integrations: installationIntegrations,
  kinds: {
    skillInstallation: ownStream('skillInstallation', (first) => [
      ...namedIn('space', 'spaceId')(first),
      ...namedIn('agent', 'agentId')(first),
    ]),
  },
});

export const skillsAggregates = [skillAggregate, skillNamesAggregate, entryAggregate, installationAggregate];
