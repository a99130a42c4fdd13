import { openContext } from '../../../test/fixtures/context';
import { spendingLookups } from '../../../test/fixtures/spending-lookups';
import { RUNNING_BUILDS, SUMMARIES_OF, SUMMARY_SOURCES } from './lookups';
import { SectionSummariesModule } from './section-summaries.module';
import { EndBuild } from './summary-index/commands/end-build';
import { StartBuild } from './summary-index/commands/start-build';

let context: Awaited<ReturnType<typeof openContext>>;
beforeAll(async () => {
  context = await openContext(SectionSummariesModule, [
    ...spendingLookups,
    { provide: SUMMARY_SOURCES, useValue: { of: async () => [], ready: async () => new Map() } },
    { provide: SUMMARIES_OF, useValue: { source: async () => [], agent: async () => [] } },
    { provide: RUNNING_BUILDS, useValue: async () => [] },
  ]);
});
afterAll(() => context.close());

describe('the module of section summaries', () => {
  it('starts one build at a time, and cancels it', async () => {
    const { commands, ids, meta } = context;
    const agent = { agentId: ids.next(), spaceId: ids.next(), model: 'local-chat' };
    await commands.execute(new StartBuild(agent, 'build', meta()));
    await expect(commands.execute(new StartBuild(agent, 'build', meta()))).rejects.toMatchObject({ code: 'conflict' });
    await commands.execute(new EndBuild(agent.agentId, false, meta()));
    await commands.execute(new StartBuild(agent, 'rebuild', meta()));
  });

  it('cancels nothing where nothing is built', async () => {
    const { commands, ids, meta } = context;
    expect(await commands.execute(new EndBuild(ids.next(), true, meta()))).toMatchObject({ eventIds: [] });
  });

  it('runs its policies', async () =>
    expect(await context.policies()).toEqual(['build-started-indexes', 'remove-summaries']));
});
