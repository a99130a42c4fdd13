import { openContext } from '../../../test/fixtures/context';
import { CreateSkill } from './skill/commands/create-skill';
import { DeleteSkill } from './skill/commands/delete-skill';
import { SkillsModule } from './skills.module';

let context: Awaited<ReturnType<typeof openContext>>;
beforeAll(async () => {
  context = await openContext(SkillsModule);
});
afterAll(() => context.close());

describe('the module of Skills', () => {
  it('handles commands: a name is taken in a Space until its Skill is deleted', async () => {
    const { commands, ids, meta } = context;
    const [spaceId, userId] = [ids.next(), ids.next()];
    const create = () => {
      const user = {
        source: 'CUSTOM',
        provider: 'local',
        sourceId: null,
        creatorType: 'USER',
        creatorId: userId,
      } as const;
      const origin = { scope: 'space', spaceId, agentId: null, ...user } as const;
      const content = { description: 'Starts it.', instructions: 'Turn the key.', frontmatter: {}, files: [] };
      const skill = { origin, name: 'Starting', slug: 'starting', content, publish: true };
      return commands.execute(new CreateSkill(skill, meta()));
    };
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
});
