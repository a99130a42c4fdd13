import { zipFile } from '../fixtures/files/office';
import {
  BOUNDARY,
  CORE,
  events,
  isFree,
  items,
  later,
  made,
  name,
  platform,
  type Prepared,
} from './several-appends-world';

const content = { description: 'Starts the machine.', instructions: 'Turn the key.' };
const finished = () => later(() => platform.platform.host.unfinished.finishAll());

const creatingSkill = async (): Promise<Prepared> => {
  const spaceId = await made('/spaces', { name: name('space') });
  const body = { scope: 'space', spaceId, name: name('skill'), ...content };
  const times = async () => (await items(`${CORE}/skills?spaceId=${spaceId}`)).length;
  return {
    sent: { path: `${CORE}/skills`, body },
    times,
    isConsistent: async () => {
      await finished();
      return (await times()) === 1 || isFree('/skills', body);
    },
  };
};
const renamingSkill = async (): Promise<Prepared> => {
  const spaceId = await made('/spaces', { name: name('space') });
  const [before, after] = [name('skill'), name('skill')];
  const of = { scope: 'space', spaceId, ...content };
  const skillId = await made('/skills', { ...of, name: before });
  const times = () => events('SkillRenamed', skillId);
  return {
    sent: { method: 'PUT', path: `${CORE}/skills/${skillId}`, body: { name: after } },
    times,
    isConsistent: async () => {
      await finished();
      const [free, taken] = (await times()) === 1 ? [`${before}`, after] : [after, before];
      const isTaken = !(await isFree('/skills', { ...of, name: taken }));
      // The slug of the first name stays the Skill's.
      return isTaken && (free === before || (await isFree('/skills', { ...of, name: free })));
    },
  };
};
const deletingSkill = async (): Promise<Prepared> => {
  const spaceId = await made('/spaces', { name: name('space') });
  const body = { scope: 'space', spaceId, name: name('skill'), ...content };
  const skillId = await made('/skills', body);
  const times = () => events('SkillDeleted', skillId);
  return {
    sent: { method: 'DELETE', path: `${CORE}/skills/${skillId}` },
    times,
    isConsistent: async () => (await times()) === 0 || isFree('/skills', body),
  };
};

const field = (field: string, value: string) =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`;
const uploaded = (fields: Readonly<Record<string, string>>, filename: string, body: string | Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(
      Object.entries(fields)
        .map(([key, value]) => field(key, value))
        .join(''),
    ),
    Buffer.from(`--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="${filename}"\r\n\r\n`),
    Buffer.from(body as Buffer),
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]);
const textOf = (skill: string) =>
  `---\nname: ${skill}\ndescription: Starts the machine.\n---\n\nTurn the ${name('key')}.\n`;

const importingSkills = async (): Promise<Prepared> => {
  const spaceId = await made('/spaces', { name: name('space') });
  const skill = name('skill');
  const times = async () => (await items(`${CORE}/skills?spaceId=${spaceId}`)).length;
  return {
    sent: {
      path: `${CORE}/skills/import`,
      payload: uploaded({ scope: 'space', spaceId }, 'a.zip', zipFile({ 'SKILL.md': textOf(skill) })),
    },
    times,
    isConsistent: async () => {
      await finished();
      return (await times()) === 1 || isFree('/skills', { scope: 'space', spaceId, name: skill, ...content });
    },
  };
};
/** An entry of the marketplace, a Space without it, and where it is installed. */
const entryAndSpace = async () => {
  const [origin, spaceId] = [
    await made('/spaces', { name: name('space') }),
    await made('/spaces', { name: name('space') }),
  ];
  const skill = { scope: 'space', spaceId: origin, name: name('skill'), ...content, publish: true };
  const entryId = await made('/marketplace/skills', { skillId: await made('/skills', skill) });
  const installations = `/marketplace/skills/${entryId}/installations`;
  const times = async () => (await items(`${CORE}${installations}`)).length;
  return { installations, at: { scope: 'space', spaceId }, times };
};
const installing = async (): Promise<Prepared> => {
  const { installations, at, times } = await entryAndSpace();
  return {
    sent: { path: `${CORE}${installations}`, body: at },
    times,
    isConsistent: async () => {
      await finished();
      return (await times()) === 1 || isFree(installations, at);
    },
  };
};
const uninstalling = async (): Promise<Prepared> => {
  const { installations, at } = await entryAndSpace();
  const installationId = await made(installations, at);
  const times = () => events('SkillUninstalled', installationId);
  return {
    sent: { method: 'DELETE', path: `${CORE}${installations}/${installationId}` },
    times,
    isConsistent: async () => (await times()) === 0 || isFree(installations, at),
  };
};
export const SKILL_REQUESTS: readonly (readonly [
  route: string,
  title: string,
  appends: number,
  prepare: () => Promise<Prepared>,
])[] = [
  [`POST ${CORE}/skills`, 'POST /skills', 2, creatingSkill],
  [`PUT ${CORE}/skills/:skillId`, 'PUT /skills/{id} with another name', 3, renamingSkill],
  [`POST ${CORE}/skills/import`, 'POST /skills/import', 2, importingSkills],
  [`DELETE ${CORE}/skills/:skillId`, 'DELETE /skills/{id}', 2, deletingSkill],
  [`POST ${CORE}/marketplace/skills/:entryId/installations`, 'POST .../installations', 2, installing],
  [
    `DELETE ${CORE}/marketplace/skills/:entryId/installations/:installationId`,
    'DELETE .../installations/{id}',
    2,
    uninstalling,
  ],
];
