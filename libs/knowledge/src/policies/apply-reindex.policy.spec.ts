import type { Position, RecordedEvent } from '@app/kernel';
import { Decisions, EventCatalogue, EventCodec, systemClock, TimeOrderedIds } from '@app/kernel';
import { MemoryCoordinationStore } from '../../../../test/fixtures/memory-coordination-store';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { documentDecider } from '../document/document.decider';
import type { DocumentCommand } from '../document/document.commands';
import { documentEvents } from '../document/document.events';
import { INSTANCE, type ReindexCommand, reindexDecider } from '../reindex/reindex.decider';
import { reindexEvents } from '../reindex/reindex.events';
import { ApplyReindex } from './apply-reindex.policy';

const ids = new TimeOrderedIds();
const report = { step: 'parse', startedAt: '2026-01-01T00:00:00.000Z', milliseconds: 1, produced: 1 } as const;
const counts = { chunkCount: 1, tokenCount: 1, chunking: null };

/** A document of an Agent that is Ready, and the policy beside it. */
const setUp = async () => {
  const log = new MemoryLog();
  const codec = new EventCodec(new EventCatalogue([...documentEvents, ...reindexEvents]), {
    ensureKey: async () => Buffer.alloc(32),
    keys: async () => new Map(),
  });
  const decisions = new Decisions(log, codec);
  const [documentId, agentId, spaceId] = [ids.next(), ids.next(), ids.next()];
  const meta = () => ({ commandId: ids.next(), correlationId: ids.next(), actor: 'user:1', now: new Date() });
  const ask = (command: DocumentCommand) => decisions.transact(documentDecider, documentId, command, meta());
  const decide = (id: string, command: ReindexCommand) => decisions.transact(reindexDecider, id, command, meta());
  const start = async (id: string) => {
    const jobId = ids.next();
    const place = id === INSTANCE ? { agentId: null, spaceId: null } : { agentId, spaceId };
    const scope = id === INSTANCE ? ('instance' as const) : ('agent' as const);
    const estimate = { calls: 1, tokens: 1, cost: '0' };
    await decide(id, { type: 'Start', jobId, scope, ...place, embeddingModel: 'n', documents: 1, estimate });
    return jobId;
  };
  const of = { documentId, scope: 'agent', spaceId, agentId } as const;
  const file = { name: 'a.md', mimeType: 'text/plain', sizeBytes: 1, contentHash: 'h', provider: 'inline' } as const;
  const reports = { parse: report, chunk: report };
  for (const command of [
    { type: 'Add', ...of, ...file, file: 'f1', tagIds: [] },
    { type: 'Start' },
    { type: 'MarkChunked', attempt: 1, text: 't1', chunks: 'c1', ...counts, reports },
    { type: 'MarkIndexed', attempt: 1, name: 'a.md', passages: 'p1', embedded: 1, embeddingModel: 'm', steps: [] },
    { type: 'MarkReady', attempt: 1 },
  ] satisfies readonly DocumentCommand[])
    await ask(command);
  const made = (jobId: string, passages: string) =>
    ask({ type: 'KeepReindexed', jobId, of: 'p1', text: 't1', passages, ...counts, embeddingModel: 'n' });
  const documents = async function* (_level: string | null, _position?: Position) {
    yield [{ documentId, chunking: null, model: 'm', chunkCount: 1, tokenCount: 1 }];
  };
  const policy = new ApplyReindex(decisions, systemClock, documents, new MemoryCoordinationStore());
  /** Lets the policy meet all that happened in a stream, only now. */
  const meet = async (stream: string) => {
    for (const event of await codec.decode(await log.readStream(stream)))
      if (policy.types.includes(event.type)) await policy.react(event as RecordedEvent);
  };
  const standby = async () => {
    const { state } = await decisions.load(documentDecider, documentId);
    return 'standby' in state ? (state.standby?.passages ?? null) : null;
  };
  return { agentId, documentId, start, decide, made, meet, standby };
};

describe('a start of a re-index that is met late', () => {
  it('drops what others had left, and nothing that the next job of its place made', async () => {
    const { agentId, start, decide, made, meet, standby } = await setUp();
    const [first, cancelled] = [await start(agentId), { type: 'Cancel' } as const];
    await made(first, 'n1');
    await decide(agentId, cancelled);
    await start(agentId);
    await meet(`reindex-${agentId}`);
    expect(await standby()).toBeNull();
    await decide(agentId, cancelled);
    await made(await start(agentId), 'n2');
    await meet(`reindex-${agentId}`);
    expect(await standby()).toBe('n2');
  });

  it.each([
    ['of an Agent', 'of the instance'],
    ['of the instance', 'of an Agent'],
  ])('%s leaves what one %s made since', async (late) => {
    const { agentId, start, decide, made, meet, standby } = await setUp();
    const [before, since] = late === 'of an Agent' ? [agentId, INSTANCE] : [INSTANCE, agentId];
    await start(before);
    await decide(before, { type: 'Cancel' });
    await made(await start(since), 'n1');
    await meet(`reindex-${before}`);
    expect(await standby()).toBe('n1');
    await decide(since, { type: 'Cancel' });
    await meet(`reindex-${since}`);
    expect(await standby()).toBeNull();
  });
});

it('leaves what a job made that was swapped since, to be swapped by its own event', async () => {
  const { agentId, documentId, start, decide, made, meet, standby } = await setUp();
  const jobId = await start(agentId);
  await made(jobId, 'n1');
  await decide(agentId, { type: 'MarkReady', jobId, documents: 1 });
  await decide(agentId, { type: 'Swap' });
  await start(agentId);
  await meet(`document-${documentId}`);
  expect(await standby()).toBe('n1');
  await meet(`reindex-${agentId}`);
  expect(await standby()).toBeNull();
});
