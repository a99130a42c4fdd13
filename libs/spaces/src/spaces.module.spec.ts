import type { StoredEvent } from '@app/kernel';
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

  it('runs its policies: a Space that was being made while its owner was deleted has no deleted owner', async () => {
    const { commands, ids, log, meta, module, types } = context;
    const policies = module.get(Policies);
    const ownerId = ids.next();
    const readStream = log.readStream.bind(log);
    jest
      .spyOn(log, 'readStream')
      .mockImplementation((stream, options) =>
        stream === `user-${ownerId}` ? Promise.resolve([userDeleted(stream)]) : readStream(stream, options),
      );
    await policies.start();
    await commands.execute(new CreateSpace(ownerId, { name: 'Late', description: '', color: '#000000' }, meta()));
    await until(() => types().includes('SpaceMemberRemoved'), 'the end of the membership');
    await policies.stop();
  });
});

const userDeleted = (stream: string): StoredEvent => ({
  stream,
  type: 'UserDeleted',
  id: stream,
  revision: 1,
  position: '',
  data: '{}',
  metadata: '{}',
});
