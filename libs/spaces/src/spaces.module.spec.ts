import { Policies } from '@app/projecting';
import { openContext } from '../../../test/fixtures/context';
import { until } from '../../../test/fixtures/until';
import { PROMPTS_OF_SPACE, SPACES_OF_USER } from './lookups';
import { CreatePrompt } from './prompt/commands/create-prompt';
import { CreateSpace } from './space/commands/create-space';
import { DeleteSpace } from './space/commands/delete-space';
import { SpacesModule } from './spaces.module';

let context: Awaited<ReturnType<typeof openContext>>;
const prompts = new Map<string, readonly string[]>();
beforeAll(async () => {
  context = await openContext(SpacesModule, [
    { provide: PROMPTS_OF_SPACE, useValue: async (spaceId: string) => prompts.get(spaceId) ?? [] },
    { provide: SPACES_OF_USER, useValue: async () => [] },
  ]);
});
afterAll(() => context.close());

describe('the module of Spaces', () => {
  it('runs its policies: the prompts of a deleted Space go with it', async () => {
    const { commands, ids, meta, module, types } = context;
    const policies = module.get(Policies);
    await policies.start();
    const space = new CreateSpace(ids.next(), { name: 'S', description: '', color: '#000000' }, meta());
    const { spaceId } = await commands.execute(space);
    const { promptId } = await commands.execute(new CreatePrompt(spaceId, { title: 'T', text: 'x', tags: [] }, meta()));
    prompts.set(spaceId, [promptId]);
    await commands.execute(new DeleteSpace(spaceId, meta()));
    await until(() => types().includes('PromptDeleted'), 'the prompt');
    await policies.stop();
  });
});
