import { Claims } from '@app/coordination';
import { InstanceSecret } from '@app/kernel';
import { claimForfeited } from '@app/reservations';
import { decisionsInMemory, ids, meta } from '../../../../../test/fixtures/decisions-in-memory';
import { FixedClock } from '../../../../../test/fixtures/fixed-clock';
import { MemoryCoordinationStore } from '../../../../../test/fixtures/memory-coordination-store';
import { SkillNames } from '../../names/skill-names';
import { skillNamesDecider } from '../../names/skill-names.decider';
import { skillNameEvents } from '../../names/skill-names.events';
import { entryDecider } from '../entry.decider';
import { entryEvents } from '../entry.events';
import { installationDecider } from '../installation.decider';
import { installationEvents } from '../installation.events';
import { InstallEntry, InstallEntryHandler } from './install-entry';
import { UninstallEntry, UninstallEntryHandler } from './uninstall-entry';

/** An entry with one version, and who installs it for a Space. */
const setUp = async (sourceId: string | null = ids.next()) => {
  const events = [...entryEvents, ...installationEvents, ...skillNameEvents, claimForfeited];
  const { decisions } = decisionsInMemory(events);
  const claims = new Claims(new MemoryCoordinationStore(), new FixedClock(), 'here', 5_000, console);
  const names = new SkillNames(decisions, new InstanceSecret(Buffer.alloc(32)), claims, ids, { SKILLS_PER_PLACE: 10 });
  const [entryId, versionId, spaceId] = [ids.next(), ids.next(), ids.next()];
  const texts = { name: 'N', slug: 'n', description: 'D', instructions: 'I', frontmatter: {}, findings: [], files: [] };
  const version = { ...texts, versionId, sourceId, listedBy: null, contentHash: 'h' };
  await decisions.transact(entryDecider, entryId, { type: 'List', version, acceptFindings: false }, meta());
  const install = (of: string | null = null, id = entryId) => {
    const at = { entryId: id, versionId: of, scope: 'space', spaceId, agentId: null } as const;
    return new InstallEntryHandler(decisions, names).execute(new InstallEntry(at, ids.next(), meta()));
  };
  const uninstall = (id: string) => new UninstallEntryHandler(decisions, names).execute(new UninstallEntry(id, meta()));
  const archive = () => decisions.transact(entryDecider, entryId, { type: 'Archive', userId: ids.next() }, meta());
  const held = async () => (await decisions.load(skillNamesDecider, spaceId)).state.size;
  const installation = async (id: string) => (await decisions.load(installationDecider, id)).state;
  return { versionId, install, uninstall, archive, held, installation };
};

describe('an entry of the marketplace', () => {
  it('is installed once in a place, and its name is free once it is taken away', async () => {
    const { install, uninstall, held, installation } = await setUp();
    const { installationId } = await install();
    expect(await installation(installationId)).toMatchObject({ status: 'present', versionId: null });
    await expect(install()).rejects.toMatchObject({ code: 'name_taken', facts: { reason: 'installed' } });
    expect(await held()).toBe(1);
    await uninstall(installationId);
    expect([(await installation(installationId)).status, await held()]).toEqual(['uninstalled', 0]);
    await install();
  });

  it('is installed in a version of its own, and in no other', async () => {
    const { versionId, install, held, installation } = await setUp();
    await expect(install(ids.next())).rejects.toMatchObject({ code: 'invalid_body', facts: { path: 'versionId' } });
    expect(await held()).toBe(0);
    const { installationId } = await install(versionId);
    expect(await installation(installationId)).toMatchObject({ status: 'present', versionId });
  });

  it('is not installed once it is archived, nor where nobody listed it', async () => {
    const { install, archive, held } = await setUp();
    await archive();
    await expect(install()).rejects.toMatchObject({ code: 'conflict', facts: { reason: 'archived' } });
    await expect(install(null, ids.next())).rejects.toMatchObject({ code: 'not_found' });
    expect(await held()).toBe(0);
  });

  it("is not installed where it is of the operator's folder, which every Agent has", async () => {
    const { install } = await setUp(null);
    await expect(install()).rejects.toMatchObject({ code: 'not_found' });
  });
});
