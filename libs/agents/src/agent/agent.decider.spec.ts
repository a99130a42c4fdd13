import { decidesOnce, given } from '../../../kernel/src/decider.contract';
import { type RecordedEvent, sizeOf } from '@app/kernel';
import * as fc from 'fast-check';
import { type AgentUpdate, defaultConfig } from './agent-config';
import { agentDecider, type AgentCommand } from './agent.decider';
import type { AgentEvent } from './agent.events';

const place = { agentId: 'g', spaceId: 's', isPersonal: false, automatic: false, ownerId: null };
const defaults = defaultConfig('Helper', 'm1');
const created: AgentEvent = { type: 'AgentCreated', data: { ...place, ...defaults } };
const changed = (data: Extract<AgentEvent, { type: 'AgentChanged' }>['data']): AgentEvent => ({
  type: 'AgentChanged',
  data,
});
const change = (config: AgentUpdate) => ({ type: 'Update', config }) as const;
const create = (config: AgentUpdate, given_ = {}) =>
  ({ type: 'Create', ...place, ...given_, defaults, config }) as const;
const publication = { ...defaults.public, enabled: true };
const isChatModel = (key: string): boolean => key !== 'gone';

const base = { id: 't', name: 'T', enabled: true, approval: 'never' as const };
const tools = {
  tool: (secret: string | null | undefined, baseUrl = 'https://a.example') => ({
    ...base,
    kind: 'http' as const,
    http: { document: '{}', baseUrl, ...(secret === undefined ? {} : { secret }) },
  }),
  stored: (secret: string | undefined, baseUrl = 'https://a.example') => ({
    ...base,
    kind: 'http',
    http: { document: '{}', baseUrl, ...(secret === undefined ? {} : { secret }) },
  }),
};

describe('an Agent', () => {
  it('is created from defaults and what is given', () => {
    given(agentDecider).when(create({})).yields(created);
    given(agentDecider)
      .when(create({ systemPrompt: 'Be kind.' }))
      .yields({ type: 'AgentCreated', data: { ...place, ...defaults, systemPrompt: 'Be kind.' } });
    given(agentDecider, created)
      .when(create({}, { spaceId: 'other' }))
      .rejects('conflict');
  });

  it('changes what differs, also inside sampling and public', () => {
    given(agentDecider, created)
      .when(change({ name: 'Helper', model: 'm2' }))
      .yields(changed({ model: 'm2' }));
    given(agentDecider, created)
      .when(change({ sampling: { temperature: { value: 0.5 } }, public: { windowTitle: 'Hi' } }))
      .yields(
        changed({
          sampling: { ...defaults.sampling, temperature: { enabled: true, value: 0.5 } },
          public: { ...defaults.public, windowTitle: 'Hi' },
        }),
      );
    given(agentDecider)
      .when(change({ name: 'X' }))
      .rejects('not_found');
  });

  it('keeps the secret of a tool at its address, and brings no removed one back', () => {
    const { tool, stored } = tools;
    const withSecret = changed({ tools: [stored('sealed-1')] });
    given(agentDecider, created, withSecret)
      .when(change({ tools: [{ ...tool(undefined), name: 'Other' }] }))
      .yields(changed({ tools: [{ ...stored('sealed-1'), name: 'Other' }] }));
    given(agentDecider, created, withSecret)
      .when(change({ tools: [tool(undefined, 'https://b.example')] }))
      .rejects('invalid_body', { path: 'tools[0].http.secret', reason: 'secret_of_another_address' });
    given(agentDecider, created, withSecret)
      .when(change({ tools: [tool(null, 'https://b.example')] }))
      .yields(changed({ tools: [stored(undefined, 'https://b.example')] }));
    const restored = (revision: number) => ({
      type: 'Restore' as const,
      revision,
      config: { ...defaults, tools: [stored('sealed-1')] },
      isChatModel,
    });
    given(agentDecider, created, withSecret, changed({ tools: [] }))
      .when(restored(1))
      .yields(changed({ tools: [stored(undefined)], restoredFrom: 1 }));
    given(agentDecider, created, withSecret, changed({ tools: [stored('sealed-2')] }))
      .when(restored(1))
      .yields();
  });

  it('has a model that is among the allowed ones', () => {
    given(agentDecider, created)
      .when(change({ allowedModels: ['m2'] }))
      .rejects('invalid_body', { path: 'model', reason: 'not_among_allowed_models' });
    given(agentDecider, created)
      .when(change({ allowedModels: ['m2'], model: 'm2' }))
      .yields(changed({ allowedModels: ['m2'], model: 'm2' }));
    given(agentDecider, created, changed({ allowedModels: ['m1'] }))
      .when(change({ model: 'm2' }))
      .rejects('invalid_body');
  });

  it('loses its memory in the event that makes it public, and gets none while it is', () => {
    given(agentDecider, created)
      .when(change({ public: { enabled: true } }))
      .yields(changed({ memoryEnabled: false, public: publication }));
    given(agentDecider, created)
      .when(change({ public: { enabled: true }, memoryEnabled: true }))
      .rejects('conflict');
    given(agentDecider, created, changed({ memoryEnabled: false, public: publication }))
      .when(change({ sharedMemoryEnabled: true }))
      .rejects('conflict');
    given(agentDecider, created, changed({ memoryEnabled: false, public: publication }))
      .when(change({ memoryEnabled: true, public: { enabled: false } }))
      .yields(changed({ memoryEnabled: true, public: defaults.public }));
    given(agentDecider)
      .when(create({ public: { enabled: true } }))
      .yields({ type: 'AgentCreated', data: { ...place, ...defaults, memoryEnabled: false, public: publication } });
  });

  it('goes back to an earlier configuration by a new event', () => {
    const given_ = given(
      agentDecider,
      created,
      changed({ name: 'Other', model: 'm2' }),
      changed({ systemPrompt: 'Be kind.' }),
    );
    given_
      .when({ type: 'Restore', revision: 0, config: defaults, isChatModel })
      .yields(changed({ name: 'Helper', model: 'm1', systemPrompt: '', restoredFrom: 0 }));
    given_
      .when({
        type: 'Restore',
        revision: 2,
        config: { ...defaults, name: 'Other', model: 'm2', systemPrompt: 'Be kind.' },
        isChatModel,
      })
      .yields();
    given_.when({ type: 'Restore', revision: 3, config: undefined, isChatModel }).rejects('not_found');
    given(agentDecider, created, changed({ model: 'gone' }), changed({ model: 'm1' }))
      .when({ type: 'Restore', revision: 1, config: { ...defaults, model: 'gone' }, isChatModel })
      .rejects('conflict');
  });

  it('is held without its old versions, however many there were', () => {
    const event = (revision: number, recorded: AgentEvent) =>
      ({ ...recorded, context: { revision } }) as RecordedEvent<AgentEvent>;
    let agent = agentDecider.evolve(agentDecider.initial, event(0, created));
    const held = sizeOf(agent);
    for (let revision = 1; revision <= 1_000; revision += 1)
      agent = agentDecider.evolve(
        agent,
        event(revision, changed({ systemPrompt: `${revision} `.padEnd(1_000, 'long ') })),
      );
    expect(sizeOf(agent)).toBeLessThan(held + 2_000);
  });

  it('is deleted; the automatic chat Agent only with its Space', () => {
    const deleted: AgentEvent = { type: 'AgentDeleted', data: { spaceId: 's' } };
    const automatic: AgentEvent = {
      type: 'AgentCreated',
      data: { ...place, ...defaults, isPersonal: true, automatic: true, ownerId: 'u' },
    };
    given(agentDecider, created).when({ type: 'Delete' }).yields(deleted);
    given(agentDecider, automatic).when({ type: 'Delete' }).rejects('conflict', { reason: 'personal_agent' });
    given(agentDecider, automatic).when({ type: 'Delete', withSpace: true }).yields(deleted);
    given(agentDecider, automatic, deleted)
      .when(create({}, { isPersonal: true, automatic: true, ownerId: 'u' }))
      .yields();
    given(agentDecider, created, deleted).when(create({})).rejects('not_found');
  });
});

test('a decided command yields nothing again', () => {
  const config: fc.Arbitrary<AgentUpdate> = fc.record(
    {
      name: fc.constantFrom('A', 'B'),
      memoryEnabled: fc.boolean(),
      model: fc.constantFrom('m1', 'm2'),
      allowedModels: fc.constantFrom(null, ['m1']),
      public: fc.record({ enabled: fc.boolean() }),
      tools: fc.array(
        fc
          .record({
            secret: fc.constantFrom('s', null, undefined),
            at: fc.constantFrom('https://a.example', 'https://b.example'),
          })
          .map(({ secret, at }) => tools.tool(secret, at)),
        { maxLength: 1 },
      ),
      sampling: fc.record({ topP: fc.record({ value: fc.constantFrom(0, 1) }) }),
    },
    { requiredKeys: [] },
  );
  const commands: fc.Arbitrary<AgentCommand> = fc.oneof(
    config.map((given_) => create(given_)),
    config.map(change),
    fc.nat(6).map((revision) => ({
      type: 'Restore' as const,
      revision,
      config: revision > 3 ? undefined : { ...defaults, name: `Name ${revision}` },
      isChatModel,
    })),
    fc.constant({ type: 'Delete' as const }),
  );
  decidesOnce(agentDecider, commands);
});
