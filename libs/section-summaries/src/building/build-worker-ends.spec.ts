import { setTimeout as pause } from 'node:timers/promises';
import { Claims } from '@app/coordination';
import { Damaged, DomainError, Unavailable } from '@app/kernel';
import type { ChatRequest } from '@app/models';
import { MemoryCoordinationStore } from '../../../../test/fixtures/memory-coordination-store';
import { ids, meta } from '../../../../test/fixtures/scripted-turns';
import { summaryIndexOver } from '../../../../test/fixtures/summary-index';
import { until } from '../../../../test/fixtures/until';
import { summaryIndexDecider } from '../summary-index/summary-index.decider';
import { BuildWorker } from './build-worker';
import { ProgressBoard } from './progress';

const CLAIM_MS = 150;

/** A build that was started, over one document; and workers, each as of a process of its own. */
const setUp = async () => {
  const set = await summaryIndexOver(1);
  const { agentId, spaceId, decisions, parts } = set;
  const store = new MemoryCoordinationStore();
  const warnings: string[] = [];
  const workers: BuildWorker[] = [];
  const runs = new Set([agentId]);
  const worker = (): BuildWorker => {
    const made = new BuildWorker({
      ...parts,
      running: async () => [...runs],
      logger: { warn: (_, message) => void warnings.push(message) },
      claims: new Claims(store, parts.clock, ids.next(), CLAIM_MS, console),
      progress: new ProgressBoard(store),
    });
    workers.push(made);
    return made;
  };
  const another = async (): Promise<string> => {
    const other = ids.next();
    const by = { model: 'm', estimate: { calls: 1, tokens: 1, cost: '0' }, mode: 'build' as const };
    const started = { type: 'Start' as const, agentId: other, spaceId, buildId: ids.next(), ...by };
    await decisions.transact(summaryIndexDecider, other, started, meta());
    return other;
  };
  await set.start();
  const isOver = () => until(async () => (await set.index()).running === null, 'the end of the build');
  return { ...set, store, warnings, worker, workers, runs, another, isOver };
};
let set: Awaited<ReturnType<typeof setUp>>;
beforeEach(async () => (set = await setUp()));
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(set.workers.map((worker) => worker.stop()));
});

/** Has the model come back from no call but where its signal ends. */
const endless = (): readonly ChatRequest[] => {
  const requests: ChatRequest[] = [];
  set.says.before = (_, request) => {
    requests.push(request);
    return new Promise((__, reject) =>
      request.signal.addEventListener('abort', () => reject(request.signal.reason as Error)),
    );
  };
  return requests;
};

const types = (): readonly string[] => set.log.events.map(({ type }) => type.replace('SummaryIndex', ''));
/** What processes have noted of builds: claims and progress. */
const noted = async () => (await set.store.list('')).map(({ key }) => key);

it('a build comes to its end, and leaves neither a claim nor progress', async () => {
  const { worker, agentId, index, isOver, says } = set;
  const during: (readonly string[])[] = [];
  says.before = async () => during.push(await noted());
  worker().offer(agentId);
  await isOver();
  expect(during).toEqual([[`claim/summary-index/${agentId}`, `summary-progress/${agentId}`]]);
  expect((await index()).live).toMatchObject({ build: 1, summaries: 1 });
  await until(async () => (await noted()).length === 0, 'the end of claim and progress');
  expect(set.warnings).toEqual([]);
});

it('a worker that stops ends its call, and the next one goes on with the build', async () => {
  const { worker, agentId, says, isOver, another } = set;
  const requests = endless();
  const stopped = worker();
  const others = [await another(), await another()];
  for (const each of [agentId, ...others]) stopped.offer(each);
  await until(() => requests.length === 2);
  // One that is offered again is still ended.
  stopped.offer(agentId);
  await pause(20);
  await stopped.stop();
  expect(requests.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  expect(await noted()).toEqual([]);
  stopped.offer(agentId);
  await pause(20);
  expect([types(), set.warnings, requests.length]).toEqual([Array(3).fill('BuildStarted'), [], 2]);
  expect(await noted()).toEqual([]);
  says.before = async () => undefined;
  worker().offer(agentId);
  await isOver();
  expect(types().at(-1)).toBe('Built');
});

it('a build that is cancelled ends its call in this process, however often it was offered', async () => {
  const { worker, agentId, tell } = set;
  const requests = endless();
  const building = worker();
  building.offer(agentId);
  await until(() => requests.length === 1);
  building.offer(agentId);
  await pause(20);
  await tell({ type: 'Cancel' });
  await building.interrupt(agentId);
  // At once, not at the next beat of its claim.
  expect(requests[0]?.signal.aborted).toBe(true);
  await until(async () => (await noted()).length === 0, 'the end of the claim');
  expect([types(), set.warnings]).toEqual([['BuildStarted', 'BuildCancelled'], []]);
});

it('a build that is cancelled in another process ends its call in the one that builds', async () => {
  const { worker, agentId, tell } = set;
  const requests = endless();
  worker().offer(agentId);
  await until(() => requests.length === 1);
  const other = worker();
  other.offer(agentId);
  await tell({ type: 'Cancel' });
  await other.interrupt(agentId);
  await until(() => requests[0]?.signal.aborted === true, 'the end of the call');
  expect([requests.length, set.warnings]).toEqual([1, []]);
});

it('a process builds two indexes at once, and the next as soon as one is done', async () => {
  const { worker, agentId, says, another } = set;
  const letGo: (() => void)[] = [];
  says.before = () => new Promise<void>((resolve) => letGo.push(resolve));
  const building = worker();
  for (const each of [agentId, await another(), await another()]) building.offer(each);
  await until(() => letGo.length === 2);
  expect((await noted()).filter((key) => key.startsWith('claim/'))).toHaveLength(2);
  letGo[0]?.();
  await until(() => letGo.length === 3);
  for (const go of letGo) go();
  await until(() => types().filter((type) => type === 'Built').length === 3);
});

it.each([
  ['internal', new Error('broken')],
  ['internal', new Damaged('blobs', 'cut')],
  ['usage_limit_exceeded', new DomainError('usage_limit_exceeded')],
] as const)('a build fails with %s by what waiting does not mend: %s', async (code, error) => {
  const { worker, agentId, parts, index, isOver } = set;
  parts.sources.of = () => Promise.reject(error);
  worker().offer(agentId);
  await isOver();
  expect((await index()).failure).toBe(code);
});

it('a build waits for a store that is away, and goes on by itself after a pause', async () => {
  const { worker, agentId, parts, warnings, isOver } = set;
  const { of } = parts.sources;
  let asked = 0;
  parts.sources.of = async (agent) => {
    asked += 1;
    if (asked === 1) throw new Unavailable('blobs', 'no answer', 'none');
    return of(agent);
  };
  const now = performance.now.bind(performance);
  const building = worker();
  building.offer(agentId);
  await until(() => warnings.length === 1);
  const sweeps = jest.spyOn(set.runs, Symbol.iterator);
  building.start();
  await until(() => sweeps.mock.calls.length > 0);
  expect([asked, types()]).toEqual([1, ['BuildStarted']]);
  jest.spyOn(performance, 'now').mockImplementation(() => now() + 5_000);
  await isOver();
  expect(types()).toEqual(['BuildStarted', 'SectionSummaryAdded', 'Built']);
});

it('nothing is done of an index that is not being built', async () => {
  const { worker, agentId, tell, decisions, asked, warnings } = set;
  await tell({ type: 'Cancel' });
  const load = jest.spyOn(decisions, 'load');
  worker().offer(agentId);
  await until(async () => load.mock.calls.length > 0 && (await noted()).length === 0, 'the end of the work');
  expect([asked, warnings, types()]).toEqual([[], [], ['BuildStarted', 'BuildCancelled']]);
});

it('a build that is cancelled between two calls is no failure', async () => {
  const { worker, agentId, add, says, tell, warnings, asked } = set;
  await add(ids.next(), 'Another');
  says.before = () => tell({ type: 'Cancel' });
  worker().offer(agentId);
  await until(async () => asked.length > 0 && (await noted()).length === 0, 'the end of the work');
  expect([asked.length, warnings]).toEqual([1, []]);
});

it('a build fails by nothing that the end of its worker caused', async () => {
  const { worker, agentId, parts, warnings } = set;
  const closed = Promise.withResolvers<never>();
  const of = jest.fn(() => closed.promise);
  parts.sources.of = of;
  const building = worker();
  building.offer(agentId);
  await until(() => of.mock.calls.length > 0);
  const stopped = building.stop();
  closed.reject(new Error('the store is closed'));
  await stopped;
  expect(types()).toEqual(['BuildStarted']);
  expect(warnings).toEqual(['Building a summary index failed; retrying.']);
});
