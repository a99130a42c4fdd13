import { type AgentEvent, defaultConfig } from '@app/agents';
import { at, happened, rowsAfter } from '../../../test/fixtures/view';
import { agents } from './agents.projection';

const config = defaultConfig('Helper', 'm1');
const event = (revision: number, given: AgentEvent) => happened('agent-a1', revision, given);
const created = event(0, {
  type: 'AgentCreated',
  data: { agentId: 'a1', spaceId: 's1', isPersonal: false, automatic: false, ownerId: null, ...config },
});
const row = { id: 'a1', spaceId: 's1', isPersonal: false, ...config, createdAt: at(0), updatedAt: at(0), revision: 0 };

test('the view of Agents follows them', () => {
  expect(rowsAfter(agents, created)).toEqual({ a1: row });
  const changed = event(1, {
    type: 'AgentChanged',
    data: { model: 'm2', public: { ...config.public, enabled: true }, memoryEnabled: false, restoredFrom: 0 },
  });
  expect(rowsAfter(agents, created, changed)).toEqual({
    a1: {
      ...row,
      model: 'm2',
      public: { ...config.public, enabled: true },
      memoryEnabled: false,
      updatedAt: at(1),
      revision: 1,
    },
  });
  expect(rowsAfter(agents, created, event(1, { type: 'AgentDeleted', data: { spaceId: 's1' } }))).toEqual({});
});
