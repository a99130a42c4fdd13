import { defineIntegration, type Integrations, integrationEvent } from '@app/kernel';
import { z } from 'zod';
import { type SkillEvent, skillScope, skillSource } from './skill.events';

const subject = 'skills';
const id = z.uuid();

const created = defineIntegration({
  name: 'skill.created',
  version: 1,
  subject,
  description: 'A Skill was created for a Space or one Agent. Agents do not load it before it is published.',
  data: z.object({
    skillId: id,
    scope: skillScope,
    spaceId: id,
    agentId: id.nullable(),
    source: skillSource,
  }),
});
export const skillPublishedV1 = defineIntegration({
  name: 'skill.published',
  version: 1,
  subject,
  description: 'A version of a Skill was published. Agents load it from then on.',
  data: z.object({ skillId: id, versionId: id, number: z.number().int() }),
});
const activated = defineIntegration({
  name: 'skill.activated',
  version: 1,
  subject,
  description: 'Agents load another published version of a Skill from then on.',
  data: z.object({ skillId: id, versionId: id }),
});
const deleted = defineIntegration({
  name: 'skill.deleted',
  version: 1,
  subject,
  description: 'A Skill was deleted permanently, with all its versions.',
  data: z.object({ skillId: id, spaceId: id, agentId: id.nullable() }),
});

export const skillIntegrations: Integrations<SkillEvent> = {
  definitions: [created, skillPublishedV1, activated, deleted],
  mapping: {
    SkillCreated: ({ scope, spaceId, agentId, source }, skillId) =>
      integrationEvent(created, { skillId, scope, spaceId, agentId, source }),
    SkillPublished: ({ versionId, number }, skillId) =>
      integrationEvent(skillPublishedV1, { skillId, versionId, number }),
    SkillVersionActivated: ({ versionId }, skillId) => integrationEvent(activated, { skillId, versionId }),
    SkillDeleted: ({ spaceId, agentId }, skillId) => integrationEvent(deleted, { skillId, spaceId, agentId }),
  },
};
