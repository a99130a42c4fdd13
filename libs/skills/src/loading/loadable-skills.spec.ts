import { createHash } from 'node:crypto';
import { UnusedKeys } from '@app/blobs';
import { decisionsInMemory, ids, keyring, meta } from '../../../../test/fixtures/decisions-in-memory';
import { MemoryBlobs } from '../../../../test/fixtures/memory-blobs';
import type { DefaultSkills } from '../defaults/default-skills';
import { entryDecider, type NewListing } from '../marketplace/entry.decider';
import { entryEvents } from '../marketplace/entry.events';
import { installationDecider } from '../marketplace/installation.decider';
import { installationEvents } from '../marketplace/installation.events';
import { skillNamesDecider } from '../names/skill-names.decider';
import { skillNameEvents } from '../names/skill-names.events';
import { SkillBodies } from '../skill/skill-bodies';
import { skillDecider } from '../skill/skill.decider';
import { skillEvents } from '../skill/skill.events';
import type { DraftChange } from '../skill/version';
import { LoadableSkills } from './loadable-skills';

const limits = { files: 10, bytes: 10_000 };
const texts = { description: 'D', instructions: 'I', frontmatter: {}, findings: [] };

/** An Agent in a Space, another beside it, and what is made for them. */
const setUp = () => {
  const events = [...skillEvents, ...skillNameEvents, ...entryEvents, ...installationEvents];
  const { decisions } = decisionsInMemory(events);
  const bodies = new SkillBodies(new MemoryBlobs(), decisions, new UnusedKeys({ ...keyring, destroy: async () => [] }));
  const entryIds: string[] = [];
  // Of them only the ids are read.
  const skills = new LoadableSkills(decisions, bodies, { entryIds } as unknown as DefaultSkills);
  const [spaceId, agentId, otherId, userId] = [ids.next(), ids.next(), ids.next(), ids.next()];
  const take = (place: string | null, skillId: string, slug: string, entryId?: string) => {
    const ticket = ids.next();
    const taken = { agentId: place, skillId, ticket, name: slug, slug, ...(entryId === undefined ? {} : { entryId }) };
    const command = { type: 'Take', most: 10, ...taken } as const;
    return decisions.transact(skillNamesDecider, spaceId, command, meta()).then(() => ticket);
  };
  const fileOf = (skillId: string, path: string, bytes: Buffer) => {
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const file = { path, mediaType: 'text/markdown', sizeBytes: bytes.length, sha256, bytes };
    return bodies.store({ skillId, spaceId }, [file]);
  };
  /** A Skill with a draft, of the Space or of an Agent. */
  const make = async (slug: string, place: string | null = null, files: Readonly<Record<string, Buffer>> = {}) => {
    const skillId = ids.next();
    const ticket = await take(place, skillId, slug);
    const stored = await Promise.all(Object.entries(files).map(([path, bytes]) => fileOf(skillId, path, bytes)));
    const origin = { scope: place === null ? 'space' : 'agent', spaceId, agentId: place, source: 'CUSTOM' } as const;
    const by = { provider: 'inline', sourceId: null, creatorType: 'USER', creatorId: userId } as const;
    const versionId = ids.next();
    const draft = { versionId, savedBy: userId, change: { ...texts, files: stored.flat() }, limits };
    const command = { type: 'Create', origin: { ...origin, ...by }, name: slug, slug, ticket, draft } as const;
    await decisions.transact(skillDecider, skillId, { ...command, publish: false }, meta());
    return { skillId, versionId };
  };
  const publish = (skillId: string, versionId: string) =>
    decisions.transact(skillDecider, skillId, { type: 'Publish', versionId }, meta());
  const change = async (skillId: string, changed: DraftChange) => {
    const versionId = ids.next();
    const draft = { versionId, savedBy: userId, change: changed, limits };
    await decisions.transact(skillDecider, skillId, { type: 'Change', draft }, meta());
    return versionId;
  };
  const made = async (...given: Parameters<typeof make>) => {
    const skill = await make(...given);
    await publish(skill.skillId, skill.versionId);
    return skill;
  };
  /** A version of an entry. */
  const list = async (entryId: string, slug: string, instructions: string, sourceId: string | null = ids.next()) => {
    const versionId = ids.next();
    const contentHash = createHash('sha256').update(instructions).digest('hex');
    const listing: NewListing = {
      ...texts,
      versionId,
      sourceId,
      listedBy: null,
      name: slug,
      slug,
      instructions,
      files: [],
      contentHash,
    };
    await decisions.transact(entryDecider, entryId, { type: 'List', version: listing, acceptFindings: true }, meta());
    return versionId;
  };
  const install = async (entryId: string, slug: string, place: string | null, versionId: string | null = null) => {
    const installationId = ids.next();
    const ticket = await take(place, installationId, slug, entryId);
    const at = { entryId, versionId, scope: place === null ? 'space' : 'agent', spaceId, agentId: place } as const;
    await decisions.transact(
      installationDecider,
      installationId,
      { type: 'Install', at, ticket, installedBy: userId },
      meta(),
    );
    return installationId;
  };
  const availableTo = async (id = agentId) =>
    (await skills.of({ agentId: id, spaceId })).skills.map(({ slug, availability }) => `${slug}: ${availability}`);
  const hash = async () => (await skills.of({ agentId, spaceId })).skillSetHash;
  return {
    decisions,
    skills,
    entryIds,
    spaceId,
    agentId,
    otherId,
    make,
    made,
    publish,
    change,
    list,
    install,
    availableTo,
    hash,
  };
};

describe('what an Agent can load', () => {
  it('is what is live of its own and of its Space, not of other Agents, nor drafts, nor what is deleted', async () => {
    const { make, made, availableTo, agentId, otherId, decisions } = setUp();
    await made('of-space');
    await made('of-agent', agentId);
    await made('of-other', otherId);
    await make('draft');
    const { skillId } = await made('deleted');
    await decisions.transact(skillDecider, skillId, { type: 'Delete' }, meta());
    expect(await availableTo()).toEqual(['of-agent: agent', 'of-space: space']);
    expect(await availableTo(otherId)).toEqual(['of-other: agent', 'of-space: space']);
  });

  it('is the version that is live, whatever is drafted or was published since', async () => {
    const { made, change, publish, skills, agentId, spaceId, decisions } = setUp();
    const { skillId, versionId } = await made('bills');
    const second = await change(skillId, { instructions: 'J' });
    const live = async () => (await skills.of({ agentId, spaceId })).skills.map((each) => each.versionId);
    expect(await live()).toEqual([versionId]);
    await expect(skills.load({ skillId, versionId: second })).rejects.toMatchObject({ code: 'not_found' });
    await publish(skillId, second);
    expect(await live()).toEqual([second]);
    expect(await skills.load({ skillId, versionId })).toMatchObject({ slug: 'bills', instructions: 'I' });
    await decisions.transact(skillDecider, skillId, { type: 'Activate', versionId }, meta());
    expect(await live()).toEqual([versionId]);
    expect(await skills.load({ skillId, versionId: second })).toMatchObject({ instructions: 'J' });
  });

  it('is what is installed for it or its Space: the newest version, or the one that it stays with, also of what is archived', async () => {
    const { list, install, skills, availableTo, agentId, otherId, spaceId, decisions } = setUp();
    const [newest, pinned, others] = [ids.next(), ids.next(), ids.next()];
    const first = [
      await list(newest, 'newest', 'I'),
      await list(pinned, 'pinned', 'I'),
      await list(others, 'others', 'I'),
    ];
    await install(newest, 'newest', null);
    const pinnedId = await install(pinned, 'pinned', agentId, first[1]);
    await install(others, 'others', otherId);
    const second = await list(newest, 'newest', 'J');
    await list(pinned, 'pinned', 'J');
    await decisions.transact(entryDecider, pinned, { type: 'Archive', userId: ids.next() }, meta());
    expect(await availableTo()).toEqual(['newest: installed', 'pinned: installed']);
    const loaded = (await skills.of({ agentId, spaceId })).skills;
    expect(loaded.map(({ skillId, versionId }) => [skillId, versionId])).toEqual([
      [newest, second],
      [pinned, first[1]],
    ]);
    const [, { skillId, versionId }] = loaded as [unknown, { skillId: string; versionId: string }];
    expect(await skills.load({ skillId, versionId })).toMatchObject({ slug: 'pinned', instructions: 'I' });
    expect((await skills.installed({ spaceId, agentId })).map(({ installationId }) => installationId)).toEqual([
      pinnedId,
    ]);
    expect((await skills.installed({ spaceId, agentId: null })).map(({ entryId }) => entryId)).toEqual([newest]);
    await decisions.transact(installationDecider, pinnedId, { type: 'Uninstall' }, meta());
    expect(await availableTo()).toEqual(['newest: installed']);
    expect(await skills.installed({ spaceId, agentId })).toEqual([]);
  });

  it('is what the operator gives every Agent, but for what it has itself under the same name', async () => {
    const { list, made, skills, entryIds, availableTo } = setUp();
    const [given, own] = [ids.next(), ids.next()];
    entryIds.push(given, own, ids.next());
    await list(given, 'given', 'I', null);
    await list(own, 'own', 'I', null);
    expect(await availableTo()).toEqual(['given: default', 'own: default']);
    await made('own');
    expect(await availableTo()).toEqual(['given: default', 'own: space']);
    expect((await skills.defaultSkills()).map(({ entryId }) => entryId)).toEqual([given, own]);
  });

  it('has a hash that changes exactly when it does', async () => {
    const { made, change, publish, hash } = setUp();
    const { skillId } = await made('bills');
    const [first, known] = [await hash(), new Set<string>()];
    await publish(skillId, await change(skillId, { frontmatter: { license: 'MIT' } }));
    expect(await hash()).toBe(first);
    known.add(first);
    for (const changed of [{ description: 'E' }, { instructions: 'J' }]) {
      const versionId = await change(skillId, changed);
      expect(known.has(await hash())).toBe(true);
      await publish(skillId, versionId);
      expect(known.has(await hash())).toBe(false);
      known.add(await hash());
    }
    await made('checks');
    expect(known.has(await hash())).toBe(false);
  });

  it('is the text of files, and nothing of those that are none', async () => {
    const { made, skills } = setUp();
    const text = Buffer.from('Check the sum.\nThen the date.');
    const bytes = Buffer.from([0xff, 0x00, 0x43]);
    const pinned = await made('bills', null, { 'a.md': text, 'b.bin': bytes, 'c.bin': Buffer.from('Check\0') });
    expect(await skills.readFile(pinned, 'a.md')).toBe(text.toString());
    for (const path of ['b.bin', 'c.bin', 'd.md']) expect(await skills.readFile(pinned, path)).toBeUndefined();
    expect(await skills.search(pinned, 'check')).toMatchObject([{ path: 'a.md', line: 1 }]);
    expect(await skills.search(pinned, '?!')).toEqual([]);
    expect((await skills.load(pinned)).files).toMatchObject([{ path: 'a.md' }, { path: 'b.bin' }, { path: 'c.bin' }]);
    const foreign = { ...pinned, versionId: ids.next() };
    for (const asked of [skills.load(foreign), skills.readFile(foreign, 'a.md'), skills.search(foreign, 'check')])
      await expect(asked).rejects.toMatchObject({ code: 'not_found' });
  });
});
