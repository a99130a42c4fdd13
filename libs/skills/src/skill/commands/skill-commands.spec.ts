import { createHash } from 'node:crypto';
import { UnusedKeys } from '@app/blobs';
import type { Vault } from '@app/vault';
import { Claims } from '@app/coordination';
import { InstanceSecret, Unavailable } from '@app/kernel';
import { claimForfeited } from '@app/reservations';
import { decisionsInMemory, ids, keyring, meta } from '../../../../../test/fixtures/decisions-in-memory';
import { FixedClock } from '../../../../../test/fixtures/fixed-clock';
import { MemoryBlobs } from '../../../../../test/fixtures/memory-blobs';
import { MemoryCoordinationStore } from '../../../../../test/fixtures/memory-coordination-store';
import { MAX_FILE_BYTES } from '../../archive';
import { SkillNames } from '../../names/skill-names';
import { skillNamesDecider } from '../../names/skill-names.decider';
import { skillNameEvents } from '../../names/skill-names.events';
import { SkillBodies, skillStream } from '../skill-bodies';
import { type PresentSkill, skillDecider, type SkillOrigin } from '../skill.decider';
import { skillEvents } from '../skill.events';
import { SkillLimit } from '../skill-limit';
import { ActivateVersion, ActivateVersionHandler } from './activate-version';
import { createdSkillId, CreateSkill, CreateSkillHandler } from './create-skill';
import { DeleteSkill, DeleteSkillHandler } from './delete-skill';
import { PublishSkill, PublishSkillHandler } from './publish-skill';
import { type SkillChange, UpdateSkill, UpdateSkillHandler } from './update-skill';

const file = (path: string, text: string, mediaType = 'text/markdown') => {
  const bytes = Buffer.from(text);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { path, mediaType, sizeBytes: bytes.length, sha256, bytes };
};

/** A Space, and commands to its Skills. */
const setUp = () => {
  const { log, decisions } = decisionsInMemory([...skillEvents, ...skillNameEvents, claimForfeited]);
  const [blobs, destroyed] = [new MemoryBlobs(), [] as string[]];
  const destroy: Vault['destroy'] = async (of) => {
    destroyed.push(...('stream' in of ? [of.stream] : []));
    return [];
  };
  const bodies = new SkillBodies(blobs, decisions, new UnusedKeys({ ...keyring, destroy }));
  const claims = new Claims(new MemoryCoordinationStore(), new FixedClock(), 'here', 5_000, console);
  const names = new SkillNames(decisions, new InstanceSecret(Buffer.alloc(32)), claims, ids, { SKILLS_PER_PLACE: 10 });
  const limits = new SkillLimit({ SKILL_MAX_FILES: 2, SKILL_MAX_BYTES: 40 });
  const [spaceId, userId] = [ids.next(), ids.next()];
  const origin: SkillOrigin = {
    scope: 'space',
    spaceId,
    agentId: null,
    source: 'CUSTOM',
    provider: 'inline',
    sourceId: null,
    creatorType: 'USER',
    creatorId: userId,
  };
  const create = async (name: string, files: readonly ReturnType<typeof file>[], by = meta()) => {
    const content = { description: 'D', instructions: 'I', frontmatter: {}, files };
    const skill = { origin, name, slug: name, content, publish: false };
    return (await new CreateSkillHandler(decisions, bodies, names, limits).execute(new CreateSkill(skill, by))).skillId;
  };
  const update = (id: string, change: SkillChange, by = meta()) =>
    new UpdateSkillHandler(decisions, bodies, names, limits).execute(new UpdateSkill(id, change, userId, by));
  const publish = (id: string) => new PublishSkillHandler(decisions, bodies).execute(new PublishSkill(id, meta()));
  const activate = (id: string, versionId: string) =>
    new ActivateVersionHandler(decisions, bodies).execute(new ActivateVersion(id, versionId, meta()));
  const remove = (id: string) => new DeleteSkillHandler(decisions, names).execute(new DeleteSkill(id, meta()));
  const skillOf = async (id: string) => (await decisions.load(skillDecider, id)).state as PresentSkill;
  const tickets = async () => [...(await decisions.load(skillNamesDecider, spaceId)).state.keys()];
  return { log, blobs, destroyed, create, update, publish, activate, remove, skillOf, tickets };
};

describe('a version of a Skill', () => {
  it.each(['is not stored any more', 'cannot be read, since its key is gone'])(
    'goes live neither by a publication nor once more where a file of it %s',
    async (why) => {
      const { blobs, create, publish, activate, update, skillOf } = setUp();
      const id = await create('bills', [file('a.md', 'a'), file('b.md', 'longer')]);
      const lose = () => {
        if (why.startsWith('is not')) blobs.bodies.delete('blob-2');
        else jest.spyOn(blobs, 'get').mockResolvedValue(undefined);
      };
      await publish(id);
      const first = (await skillOf(id)).activeVersionId ?? '';
      await update(id, { content: { instructions: 'J' } });
      lose();
      await expect(publish(id)).rejects.toThrow(Unavailable);
      await expect(activate(id, first)).rejects.toThrow(Unavailable);
      expect(await skillOf(id)).toMatchObject({ activeVersionId: first, draft: { instructions: 'J' } });
    },
  );

  it('has what its draft has stored already, and other files anew: those of other bytes or another media type', async () => {
    const { blobs, create, publish, update, skillOf } = setUp();
    const id = await create('bills', [file('a.md', 'one')]);
    await publish(id);
    await update(id, { content: { files: [file('a.md', 'two')] } });
    expect(blobs.bodies.size).toBe(2);
    await update(id, { content: { files: [file('a.md', 'two')], instructions: 'J' } });
    expect(blobs.bodies.size).toBe(2);
    await update(id, { content: { files: [file('a.md', 'two', 'text/plain')] } });
    const { draft, published } = await skillOf(id);
    expect(draft?.files.get('a.md')).toMatchObject({ file: 'blob-3', mediaType: 'text/plain' });
    expect(published.first()?.files.get('a.md')).toMatchObject({ file: 'blob-1' });
  });

  it('names no file whose stored bytes the draft lost while it was changed', async () => {
    const { log, create, update, skillOf } = setUp();
    const id = await create('bills', [file('a.md', 'one')]);
    const append = log.append.bind(log);
    const appending = jest.spyOn(log, 'append').mockImplementation(async (...given) => {
      appending.mockImplementation(append);
      await update(id, { content: { removed: ['a.md'] } });
      return append(...given);
    });
    const again = update(id, { content: { files: [file('a.md', 'one')], instructions: 'J' } });
    await expect(again).rejects.toMatchObject({ code: 'conflict' });
    expect((await skillOf(id)).draft?.files.size).toBe(0);
  });

  it('stores nothing of what does not fit', async () => {
    const { blobs, create, update } = setUp();
    const id = await create('bills', []);
    const put = jest.spyOn(blobs, 'put');
    const many = ['a', 'b', 'c'].map((path) => file(path, path));
    for (const files of [many, [file('a', 'x'.repeat(41))]]) {
      await expect(update(id, { content: { files } })).rejects.toMatchObject({ code: 'too_large' });
      await expect(create('checks', files)).rejects.toMatchObject({ code: 'too_large' });
    }
    const large = { ...file('a', 'a'), sizeBytes: MAX_FILE_BYTES + 1 };
    await expect(update(id, { content: { files: [large] } })).rejects.toMatchObject({
      facts: { reason: 'skill_file' },
    });
    expect(put).not.toHaveBeenCalled();
  });
});

describe('a Skill that is not created', () => {
  it('leaves no file and no key where its name is taken', async () => {
    const { blobs, destroyed, create } = setUp();
    await create('bills', []);
    const by = meta();
    await expect(create('bills', [file('a.md', 'a')], by)).rejects.toMatchObject({ code: 'name_taken' });
    expect([blobs.bodies.size, destroyed]).toEqual([0, [skillStream(createdSkillId(by))]]);
    // Without files a repeat may go on: it has the same id.
    await expect(create('bills', [])).rejects.toMatchObject({ code: 'name_taken' });
    expect(destroyed).toHaveLength(1);
  });

  it('keeps its files and its key where it may be there all the same', async () => {
    const { log, blobs, destroyed, create } = setUp();
    const append = log.append.bind(log);
    jest.spyOn(log, 'append').mockImplementation((stream, ...given) => {
      if (stream.startsWith('skill-')) throw new Unavailable('log', 'no answer', 'unknown');
      return append(stream, ...given);
    });
    await expect(create('bills', [file('a.md', 'a')])).rejects.toMatchObject({ outcome: 'unknown' });
    expect([blobs.bodies.size, destroyed]).toEqual([1, []]);
  });
});

describe('the name of a Skill', () => {
  it('is free once it has another, and one that it has already is not taken again', async () => {
    const { create, update, remove, tickets, skillOf } = setUp();
    const id = await create('bills', []);
    await update(id, { name: 'bills' });
    expect(await tickets()).toEqual([(await skillOf(id)).ticket]);
    await update(id, { name: 'checks' });
    expect(await tickets()).toEqual([(await skillOf(id)).ticket]);
    await remove(id);
    expect(await tickets()).toEqual([]);
    await create('checks', []);
  });

  it('stays taken where a rename is sent again after the Skill got its name back', async () => {
    const { create, update, tickets, skillOf } = setUp();
    const [id, by] = [await create('bills', []), meta()];
    await update(id, { name: 'checks' }, by);
    await update(id, { name: 'bills' });
    expect(await update(id, { name: 'checks' }, by)).toMatchObject({ repeated: true });
    const { name, ticket } = await skillOf(id);
    expect([name, await tickets()]).toEqual(['bills', [ticket]]);
  });
});
