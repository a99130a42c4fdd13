import { createHash } from 'node:crypto';
import { BLOBS, type Blobs } from '@app/blobs';
import { Policies } from '@app/projecting';
import { openContext } from '../../../test/fixtures/context';
import { until } from '../../../test/fixtures/until';
import { CreateSkill } from './skill/commands/create-skill';
import { DeleteSkill } from './skill/commands/delete-skill';
import { DiscardDraft } from './skill/commands/discard-draft';
import { UpdateSkill } from './skill/commands/update-skill';
import { SkillsModule } from './skills.module';

let context: Awaited<ReturnType<typeof openContext>>;
beforeAll(async () => {
  context = await openContext(SkillsModule);
});
afterAll(() => context.close());

const file = (text: string) => ({
  path: 'notes.md',
  mediaType: 'text/markdown',
  sizeBytes: text.length,
  sha256: createHash('sha256').update(text).digest('hex'),
  bytes: Buffer.from(text),
});

/** A Skill of a Space, to be published. */
const skillOf = (spaceId: string, userId: string, files: readonly ReturnType<typeof file>[] = []) => {
  const by = { source: 'CUSTOM', provider: 'local', sourceId: null, creatorType: 'USER', creatorId: userId } as const;
  const origin = { scope: 'space', spaceId, agentId: null, ...by } as const;
  const content = { description: 'Starts it.', instructions: 'Turn the key.', frontmatter: {}, files };
  return { origin, name: 'Starting', slug: 'starting', content, publish: true };
};

describe('the module of Skills', () => {
  it('handles commands: a name is taken in a Space until its Skill is deleted', async () => {
    const { commands, ids, meta } = context;
    const [spaceId, userId] = [ids.next(), ids.next()];
    const create = () => commands.execute(new CreateSkill(skillOf(spaceId, userId), meta()));
    const { skillId } = await create();
    await expect(create()).rejects.toMatchObject({ code: 'name_taken' });
    await commands.execute(new DeleteSkill(skillId, meta()));
    expect((await create()).skillId).not.toBe(skillId);
  });

  it('runs its policies', async () =>
    expect(await context.policies()).toEqual([
      'delete-skills-of-the-deleted',
      'release-skill-names',
      'remove-superseded-skill-files',
      'uninstall-entries-of-the-deleted',
    ]));

  it('runs its policies: the body of a file goes once the draft has another, or is discarded', async () => {
    const { commands, ids, meta, module } = context;
    const [policies, blobs] = [module.get(Policies), module.get<Blobs>(BLOBS)];
    const userId = ids.next();
    const bodies = () => blobs.list(null, 10);
    await policies.start();
    const { skillId } = await commands.execute(
      new CreateSkill(skillOf(ids.next(), userId, [file('published')]), meta()),
    );
    const published = await bodies();
    const draft = (text: string) =>
      commands.execute(new UpdateSkill(skillId, { content: { files: [file(text)] } }, userId, meta()));
    await draft('first');
    const first = await bodies();
    await draft('second');
    await until(async () => (await bodies()).length === 2, 'the end of the body of before');
    expect(await bodies()).not.toEqual(first);
    expect(await bodies()).toEqual(expect.arrayContaining([...published]));
    await commands.execute(new DiscardDraft(skillId, meta()));
    await until(async () => (await bodies()).length === 1, 'the end of the body of the draft');
    expect(await bodies()).toEqual(published);
    await policies.stop();
  });
});
