import type { RecordedEvent } from '@app/kernel';
import { type Reindex, type ReindexCommand, reindexDecider } from './reindex.decider';
import type { ReindexEvent } from './reindex.events';

const [JOB, NEXT] = ['01900000-0000-7000-8000-00000000000a', '01900000-0000-7000-8000-00000000000b'] as const;
const start = (jobId: string): ReindexCommand => ({
  type: 'Start',
  jobId,
  scope: 'instance',
  spaceId: null,
  agentId: null,
  embeddingModel: 'm',
  documents: 3,
  estimate: { calls: 3, tokens: 30, cost: '0.00003' },
});
const context = { actor: 'key:k1', onBehalfOf: 'user:u1' };
const evolved = (job: Reindex, event: ReindexEvent): Reindex =>
  reindexDecider.evolve(job, { ...event, context } as RecordedEvent<ReindexEvent>);
const after = (...commands: readonly ReindexCommand[]): Reindex =>
  commands.reduce((job, command) => reindexDecider.decide(command, job).reduce(evolved, job), reindexDecider.initial);
const types = (command: ReindexCommand, job: Reindex) => reindexDecider.decide(command, job).map(({ type }) => type);

const ready: ReindexCommand = { type: 'MarkReady', jobId: JOB, documents: 2 };
const failed: ReindexCommand = { type: 'Fail', jobId: JOB, code: 'upstream_error' };
const states = {
  none: after(),
  running: after(start(JOB)),
  paused: after(start(JOB), { type: 'Pause' }),
  failed: after(start(JOB), failed),
  ready: after(start(JOB), ready),
  swapped: after(start(JOB), ready, { type: 'Swap' }),
};

describe('a re-index', () => {
  it('counts for whoever asked for it, with the key that they used', () =>
    expect(states.running).toMatchObject({ status: 'running', askedBy: { userId: 'u1', keyId: 'k1' }, documents: 3 }));

  it.each([
    ['Pause', { running: 'ReindexPaused', paused: null }],
    ['Resume', { paused: 'ReindexResumed', failed: 'ReindexResumed', running: null }],
    [
      'Cancel',
      {
        running: 'ReindexCancelled',
        paused: 'ReindexCancelled',
        failed: 'ReindexCancelled',
        ready: 'ReindexCancelled',
        none: null,
      },
    ],
    ['Swap', { ready: 'ReindexSwapped', swapped: null }],
    ['RollBack', { swapped: 'ReindexRolledBack' }],
  ] as const)('%s is for some states, and is done once', (type, allowed: Record<string, string | null>) => {
    for (const [name, job] of Object.entries(states)) {
      expect(job.status).toBe(name);
      const event = allowed[name];
      if (event === undefined)
        expect(() => types({ type }, job)).toThrow(expect.objectContaining({ code: 'conflict' }));
      else expect([name, types({ type }, job)]).toEqual([name, event === null ? [] : [event]]);
    }
  });

  it('is one at a time, and follows one that was swapped or cancelled', () => {
    for (const job of [states.running, states.paused, states.ready, states.failed]) {
      expect(() => types(start(NEXT), job)).toThrow(expect.objectContaining({ code: 'conflict' }));
      expect(types(start(JOB), job)).toEqual([]);
    }
    expect(types(start(NEXT), states.swapped)).toEqual(['ReindexStarted']);
    expect(types(start(NEXT), after(start(JOB), { type: 'Cancel' }))).toEqual(['ReindexStarted']);
  });

  it('hears its own worker alone, and only while it runs', () => {
    expect([types(ready, states.running), types(failed, states.running)]).toEqual([
      ['ReindexReady'],
      ['ReindexFailed'],
    ]);
    for (const job of [states.none, states.paused, states.swapped, after(start(NEXT))])
      expect([types(ready, job), types(failed, job)]).toEqual([[], []]);
    expect(states.failed).toMatchObject({ code: 'upstream_error' });
    expect(states.ready).toMatchObject({ documents: 2 });
  });

  it('can be swapped again after a rollback', () => {
    const back = after(start(JOB), ready, { type: 'Swap' }, { type: 'RollBack' });
    expect([back.status, types({ type: 'Swap' }, back)]).toEqual(['ready', ['ReindexSwapped']]);
  });
});
