import { defineIntegration, type Integrations, integrationEvent } from '@app/kernel';
import { z } from 'zod';
import { skillScope } from '../skill/skill.events';
import { skillPublishedV1 } from '../skill/skill.integrations';
import type { EntryEvent } from './entry.events';
import type { InstallationEvent } from './installation.events';

const subject = 'skills';
const id = z.uuid();
const place = { installationId: id, skillId: id, spaceId: id, agentId: id.nullable() };

const archived = defineIntegration({
  name: 'skill.archived',
  version: 1,
  subject,
  description: 'An entry of the marketplace was archived. It cannot be installed; installations go on.',
  data: z.object({ skillId: id }),
});
const installed = defineIntegration({
  name: 'skill.installed',
  version: 1,
  subject,
  description:
    'An entry of the marketplace was installed for a Space or one Agent. `versionId`: it stays with that version.',
  data: z.object({ ...place, scope: skillScope, versionId: id.nullable() }),
});
const uninstalled = defineIntegration({
  name: 'skill.uninstalled',
  version: 1,
  subject,
  description: 'An installation of an entry of the marketplace was taken away.',
  data: z.object(place),
});

export const entryIntegrations: Integrations<EntryEvent> = {
  definitions: [archived],
  mapping: {
    SkillListed: ({ versionId, number }, skillId) => integrationEvent(skillPublishedV1, { skillId, versionId, number }),
    SkillArchived: (_, skillId) => integrationEvent(archived, { skillId }),
  },
};

export const installationIntegrations: Integrations<InstallationEvent> = {
  definitions: [installed, uninstalled],
  mapping: {
    SkillInstalled: ({ entryId, versionId, scope, spaceId, agentId }, installationId) =>
      integrationEvent(installed, { installationId, skillId: entryId, versionId, scope, spaceId, agentId }),
    SkillUninstalled: ({ entryId, spaceId, agentId }, installationId) =>
      integrationEvent(uninstalled, { installationId, skillId: entryId, spaceId, agentId }),
  },
};
