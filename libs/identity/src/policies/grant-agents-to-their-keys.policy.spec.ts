import { systemClock } from '@app/kernel';
import { decisionsInMemory, ids, meta } from '../../../../test/fixtures/decisions-in-memory';
import { happened } from '../../../../test/fixtures/view';
import { apiKeyDecider, type ApiKeyFields } from '../api-key/api-key.decider';
import { apiKeyEvents } from '../api-key/api-key.events';
import { GrantAgentsToTheirKeys } from './grant-agents-to-their-keys.policy';

/** A key, and its Agents once it was told of one that was created with it. */
const newKey = async (given: Partial<ApiKeyFields>) => {
  const { log, decisions } = decisionsInMemory(apiKeyEvents);
  const policy = new GrantAgentsToTheirKeys(decisions, systemClock);
  const [keyId, agentId] = [ids.next(), ids.next()];
  const fields = { name: 'K', agentIds: [], allAgents: false, permissions: [], usageLimit: null, expiresAt: null };
  const secret = { prefix: 'p', secretHash: 'h' };
  await decisions.transact(
    apiKeyDecider,
    keyId,
    { type: 'Create', userId: ids.next(), secret, fields: { ...fields, ...given } },
    meta(),
  );
  const created = (automatic = false) => {
    const event = happened(`agent-${agentId}`, 0, { type: 'AgentCreated', data: { automatic } }, `key:${keyId}`);
    return { ...event, context: { ...event.context, position: log.events.at(-1)?.position ?? '' } };
  };
  const change = (fieldsGiven: Partial<ApiKeyFields>) =>
    decisions.transact(apiKeyDecider, keyId, { type: 'Update', fields: fieldsGiven }, meta());
  const agents = async (): Promise<readonly string[]> => {
    const { state } = await decisions.load(apiKeyDecider, keyId);
    return state.status === 'valid' ? [...state.agentIds] : [];
  };
  return { agentId, policy, created, change, agents };
};

describe('a key whose request died before it was granted the Agent that it made', () => {
  it('is granted it, whatever else was changed of the key', async () => {
    const { agentId, policy, created, change, agents } = await newKey({});
    const event = created();
    await change({ name: 'Renamed' });
    await policy.react(event);
    expect(await agents()).toEqual([agentId]);
  });

  it.each([{ agentIds: [] }, { allAgents: false }])(
    'is not where it was narrowed since: the policy may be hours late (%j)',
    async (narrowed) => {
      const { policy, created, change, agents } = await newKey({ allAgents: true, agentIds: [ids.next()] });
      const event = created();
      await change({ allAgents: false, ...narrowed });
      await policy.react(event);
      expect(await agents()).not.toContain(event.context.stream.slice('agent-'.length));
    },
  );

  it('is not granted the chat Agent of a user that it made', async () => {
    const { policy, created, agents } = await newKey({});
    await policy.react(created(true));
    expect(await agents()).toEqual([]);
  });
});
