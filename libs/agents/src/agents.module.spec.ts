import { openContext } from '../../../test/fixtures/context';
import { CHAT_MODELS, type ChatModels } from './agent/chat-models';
import { CreateAgent } from './agent/commands/create-agent';
import { AgentsModule } from './agents.module';
import { AGENTS_OF_SPACE } from './lookups';

let context: Awaited<ReturnType<typeof openContext>>;
beforeAll(async () => {
  context = await openContext(AgentsModule, [{ provide: AGENTS_OF_SPACE, useValue: async () => [] }]);
});
afterAll(() => context.close());

describe('the module of Agents', () => {
  it('handles commands, and takes the chat models from the catalogue', async () => {
    const { commands, ids, meta, module, types } = context;
    const place = { spaceId: ids.next(), ownerId: null };
    await commands.execute(new CreateAgent(place, { name: 'A' }, meta()));
    expect(types()).toEqual(['AgentCreated']);
    const { defaultModel } = module.get<ChatModels>(CHAT_MODELS, { strict: false });
    await commands.execute(new CreateAgent(place, { name: 'B', model: defaultModel }, meta()));
    await expect(
      commands.execute(new CreateAgent(place, { name: 'C', model: 'unknown' }, meta())),
    ).rejects.toMatchObject({ code: 'invalid_body', facts: { reason: 'unknown_model' } });
  });

  it('runs its policies', async () =>
    expect(await context.policies()).toEqual([
      'delete-agents-with-their-space',
      'make-a-chat-agent-in-each-personal-space',
    ]));
});
