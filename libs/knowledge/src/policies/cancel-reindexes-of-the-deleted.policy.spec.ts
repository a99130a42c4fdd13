import { Decisions, EventCatalogue, EventCodec, systemClock, TimeOrderedIds } from '@app/kernel';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { reindexDecider, type ReindexCommand } from '../reindex/reindex.decider';
import { reindexEvents } from '../reindex/reindex.events';
import { CancelReindexesOfTheDeleted } from './cancel-reindexes-of-the-deleted.policy';

const ids = new TimeOrderedIds();

const setUp = async () => {
  const log = new MemoryLog();
  const codec = new EventCodec(new EventCatalogue(reindexEvents), {
    ensureKey: async () => Buffer.alloc(32),
    keys: async () => new Map(),
  });
  const decisions = new Decisions(log, codec);
  const policy = new CancelReindexesOfTheDeleted(decisions, log, systemClock);
  const [agentId, spaceId, jobId] = [ids.next(), ids.next(), ids.next()];
  const job = {
    jobId,
    scope: 'agent',
    spaceId,
    agentId,
    embeddingModel: 'm',
    documents: 1,
    estimate: { calls: 1, tokens: 1, cost: '0' },
  } as const;
  const decide = (command: ReindexCommand) =>
    decisions.transact(reindexDecider, agentId, command, {
      commandId: ids.next(),
      correlationId: ids.next(),
      actor: 'user:1',
      now: new Date(),
    });
  const end = (stream: string, type: string) =>
    log.append(stream, [{ id: ids.next(), type, data: '{}', metadata: '{}' }], 'any');
  /** Lets the policy meet the last event of the job. */
  const met = async () => {
    const event = (await codec.decode(await log.readStream(`reindex-${agentId}`))).at(-1);
    if (event !== undefined) await policy.react(event);
    return (await decisions.load(reindexDecider, agentId)).state.status;
  };
  return { agentId, spaceId, job, decide, end, met };
};

it.each(['Agent', 'Space'])('a re-index that is started behind the deletion of its %s is cancelled', async (owner) => {
  const { agentId, spaceId, job, decide, end, met } = await setUp();
  await decide({ type: 'Start', ...job });
  expect(await met()).toBe('running');
  await end(owner === 'Agent' ? `agent-${agentId}` : `space-${spaceId}`, `${owner}Deleted`);
  expect(await met()).toBe('none');
});

it('one that is rolled back behind it is cancelled, and one that is swapped has ended', async () => {
  const { agentId, job, decide, end, met } = await setUp();
  await decide({ type: 'Start', ...job });
  await decide({ type: 'MarkReady', jobId: job.jobId, documents: 1 });
  await decide({ type: 'Swap' });
  await end(`agent-${agentId}`, 'AgentDeleted');
  expect(await met()).toBe('swapped');
  await decide({ type: 'RollBack' });
  expect(await met()).toBe('none');
});
