import { idOf, type RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import { type InstallationEvent, skillScope } from '@app/skills';
import { z } from 'zod';

export const installationRow = z.object({
  id: z.string(),
  entryId: z.string(),
  versionId: z.string().nullable(),
  scope: skillScope,
  spaceId: z.string(),
  agentId: z.string().nullable(),
  installedBy: z.string(),
  createdAt: z.string(),
  revision: z.number().int(),
});
export type InstallationRow = z.output<typeof installationRow>;

/** Installations until they are taken away. A policy finds those of a deleted Agent or Space here. */
export const skillInstallations: RowProjection = {
  kind: 'rows',
  name: 'skill-installations',
  version: 1,
  perStream: true,
  types: ['SkillInstalled', 'SkillUninstalled'],
  row: installationRow,
  indexes: [
    { name: 'of-entry', fields: [{ field: 'entryId' }, { field: 'createdAt', order: 'desc' }] },
    { name: 'of-space', fields: [{ field: 'spaceId' }, { field: 'createdAt', order: 'desc' }] },
    { name: 'of-agent', fields: [{ field: 'agentId' }, { field: 'createdAt', order: 'desc' }] },
  ],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<InstallationEvent>;
    const { stream, revision, recordedAt: createdAt } = event.context;
    const key = idOf(stream);
    if (event.type === 'SkillUninstalled') return [{ op: 'remove', key }];
    const { ticket: _, ...data } = event.data;
    return [{ op: 'put', key, row: { id: key, ...data, createdAt, revision } }];
  },
};
