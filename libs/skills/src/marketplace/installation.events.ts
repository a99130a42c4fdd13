import { defineEvent, type EventsOf } from '@app/kernel';
import { z } from 'zod';
import { skillScope } from '../skill/skill.events';

const id = z.uuid();
const place = { spaceId: id, agentId: id.nullable() };

export const skillInstalled = defineEvent({
  type: 'SkillInstalled',
  description:
    'An entry of the marketplace was installed for a Space or one Agent. `versionId` pins a version; null means the newest one. `ticket` is the claim to its name in the Space.',
  data: z.strictObject({
    entryId: id,
    versionId: id.nullable(),
    scope: skillScope,
    ...place,
    ticket: id,
    installedBy: id,
  }),
});

export const skillUninstalled = defineEvent({
  type: 'SkillUninstalled',
  description: 'An entry of the marketplace was uninstalled: by an editor, or because its Agent or Space was deleted.',
  data: z.strictObject({ entryId: id, ...place, ticket: id }),
});

export const installationEvents = [skillInstalled, skillUninstalled] as const;
export type InstallationEvent = EventsOf<typeof installationEvents>;
