import { type AgentEvent, defaultConfig } from '@app/agents';
import { at, happened, rowsAfter } from '../../../test/fixtures/view';
import { agentVersions } from './agent-versions.projection';

const config = defaultConfig('Helper', 'm1');
const event = (revision: number, given: AgentEvent) => happened('agent-a1', revision, given, `key:k${revision}`);
const created = event(0, {
  type: 'AgentCreated',
  data: { agentId: 'a1', spaceId: 's1', isPersonal: false, automatic: false, ownerId: null, ...config },
});
const changed = event(1, { type: 'AgentChanged', data: { name: 'Other' } });

test('the view of versions keeps what each revision set, until the Agent is deleted', () => {
  expect(
    rowsAfter(
      agentVersions,
      created,
      changed,
      event(2, { type: 'AgentChanged', data: { name: 'Helper', restoredFrom: 0 } }),
    ),
  ).toEqual({
    'a1/0': { agentId: 'a1', revision: 0, createdAt: at(0), actor: 'key:k0', restoredFrom: null, changes: config },
    'a1/1': {
      agentId: 'a1',
      revision: 1,
      createdAt: at(1),
      actor: 'key:k1',
      restoredFrom: null,
      changes: { name: 'Other' },
    },
    'a1/2': {
      agentId: 'a1',
      revision: 2,
      createdAt: at(2),
      actor: 'key:k2',
      restoredFrom: 0,
      changes: { name: 'Helper' },
    },
  });
  expect(
    rowsAfter(agentVersions, created, changed, event(2, { type: 'AgentDeleted', data: { spaceId: 's1' } })),
  ).toEqual({});
});
