import fc from 'fast-check';
import type { RecordedEvent } from '@app/kernel';
import { addDocument } from '../../../../test/fixtures/document-commands';
import { allBlobs } from './document-blobs';
import type { DocumentCommand } from './document.commands';
import { documentDecider, type DocumentState } from './document.decider';
import type { DocumentEvent } from './document.events';

const [JOB, NEXT, OTHER] = [
  '01900000-0000-7000-8000-00000000000a',
  '01900000-0000-7000-8000-00000000000b',
  '01900000-0000-7000-8000-00000000000c',
] as const;
const report = { step: 'parse', startedAt: '2026-01-01T00:00:00.000Z', milliseconds: 1, produced: 1 } as const;
const counts = { chunkCount: 1, tokenCount: 1, chunking: null };

const add: DocumentCommand = { ...addDocument, scope: 'global', spaceId: null };
const ingested = (attempt: number): readonly DocumentCommand[] => [
  { type: 'Start' },
  {
    type: 'MarkChunked',
    attempt,
    text: `t${attempt}`,
    chunks: `c${attempt}`,
    ...counts,
    reports: { parse: report, chunk: report },
  },
  { type: 'MarkIndexed', attempt, name: 'a.md', passages: `p${attempt}`, embedded: 1, embeddingModel: 'm', steps: [] },
  { type: 'MarkReady', attempt },
];
const batch = (jobId: string, passages: string): DocumentCommand => ({
  type: 'KeepReindexBatch',
  jobId,
  passages,
  count: 1,
  embeddingModel: 'n',
});
const made = (jobId: string, passages: string, of = 'p1', text = 't1'): DocumentCommand => ({
  type: 'KeepReindexed',
  jobId,
  of,
  text,
  passages,
  ...counts,
  embeddingModel: 'n',
});
const swap = (jobId: string, to: 'new' | 'earlier' = 'new'): DocumentCommand => ({ type: 'SwapPassages', jobId, to });
const discard = (jobId: string, of: 'job' | 'others' = 'job', later: readonly string[] = []): DocumentCommand => ({
  type: 'DiscardReindexed',
  jobId,
  of,
  later,
});

const evolve = (state: DocumentState, event: DocumentEvent, revision: number): DocumentState =>
  documentDecider.evolve(state, { ...event, context: { revision, actor: 'user:u1' } } as RecordedEvent<DocumentEvent>);
const run = (...commands: readonly DocumentCommand[]) => {
  let state = documentDecider.initial;
  const events: DocumentEvent[] = [];
  for (const command of commands)
    for (const event of documentDecider.decide(command, state)) {
      state = evolve(state, event, events.length);
      events.push(event);
    }
  return { state, events };
};
const live = (state: DocumentState) => {
  if (!('indexed' in state) || state.indexed === null) throw new Error('nothing is indexed');
  return { passages: state.indexed.passages, model: state.indexed.model, standby: state.standby?.passages ?? null };
};
const before = [add, ...ingested(1)];

describe('a document that is re-indexed', () => {
  it('stays Ready and is searched as before, until its passages are swapped, and swapped back', () => {
    const prepared = [...before, batch(JOB, 'b1'), made(JOB, 'n1')];
    expect(run(...prepared).state).toMatchObject({ status: 'Ready' });
    expect(live(run(...prepared).state)).toEqual({ passages: 'p1', model: 'm', standby: 'n1' });
    const swapped = [...prepared, swap(JOB)];
    expect(live(run(...swapped).state)).toEqual({ passages: 'n1', model: 'n', standby: 'p1' });
    expect(live(run(...swapped, swap(JOB, 'earlier')).state)).toEqual({ passages: 'p1', model: 'm', standby: 'n1' });
    for (const repeated of [swap(JOB), swap(NEXT), swap(NEXT, 'earlier')])
      expect(run(...swapped, repeated).events).toHaveLength(run(...swapped).events.length);
  });

  it('is swapped at the revision that citations pin', () => {
    const { events } = run(...before, made(JOB, 'n1'), swap(JOB));
    const indexedAt = events.findIndex(({ type }) => type === 'DocumentIndexed');
    expect(events.at(-1)).toMatchObject({ type: 'DocumentPassagesSwapped', data: { indexedRevision: indexedAt } });
  });

  it('keeps nothing that was made of passages which are searched no more', () => {
    const changed = [...before, { type: 'Reprocess', force: true } as const];
    expect(run(...changed, made(JOB, 'n1')).events).toHaveLength(run(...changed).events.length);
    expect(run(...before, made(JOB, 'n1', 'p0')).events).toHaveLength(run(...before).events.length);
    const again = run(...before, made(JOB, 'n1'), { type: 'Reprocess', force: true }, ...ingested(2));
    expect(live(again.state)).toEqual({ passages: 'p2', model: 'm', standby: null });
    expect(again.events.at(-1)).toMatchObject({ data: { superseded: expect.arrayContaining(['n1', 'p1']) } });
    expect(run(...before, made(JOB, 'n1'), { type: 'Reprocess', force: true }, swap(JOB)).events.at(-1)?.type).toBe(
      'DocumentReprocessRequested',
    );
  });

  it('drops what a cancelled job made, and what other jobs left when the next begins', () => {
    expect(run(...before, batch(JOB, 'b1'), discard(JOB)).events.at(-1)?.data).toEqual({
      jobId: JOB,
      superseded: ['b1'],
    });
    expect(run(...before, made(JOB, 'n1'), discard(JOB)).events.at(-1)?.data).toEqual({
      jobId: JOB,
      superseded: ['n1'],
    });
    const swapped = [...before, made(JOB, 'n1', 'p1', 't2'), swap(JOB)];
    expect(run(...swapped, discard(JOB)).events).toHaveLength(run(...swapped).events.length);
    const next = run(...swapped, discard(NEXT, 'others'));
    expect(next.events.at(-1)?.data).toEqual({ jobId: NEXT, superseded: ['t1', 'p1'] });
    expect(live(next.state)).toEqual({ passages: 'n1', model: 'n', standby: null });
    expect(run(...swapped, discard(NEXT, 'others', [JOB])).events).toHaveLength(run(...swapped).events.length);
  });

  it('keeps what a job made while batches of another are dropped', () => {
    const beside = [...before, made(JOB, 'n1'), batch(NEXT, 'b1')];
    expect(live(run(...beside, discard(NEXT)).state).standby).toBe('n1');
    expect(live(run(...beside, discard(JOB, 'others')).state).standby).toBe('n1');
    const dropped = run(...beside, discard(JOB));
    expect(dropped.events.at(-1)?.data).toEqual({ jobId: JOB, superseded: ['n1'], keepsBatches: true });
    expect(live(dropped.state).standby).toBeNull();
    expect(dropped.state).toMatchObject({ embeddedStandby: { jobId: NEXT } });
    expect(run(...beside, discard(JOB), discard(NEXT)).events.at(-1)?.data).toEqual({
      jobId: NEXT,
      superseded: ['b1'],
    });
    expect(run(...beside, discard(OTHER, 'others', [NEXT])).events.at(-1)?.data).toMatchObject({
      keepsBatches: true,
    });
    expect(run(...beside, discard(NEXT), made(NEXT, 'n2')).events.at(-1)).toMatchObject({
      data: { superseded: ['n1', 'b1'] },
    });
  });

  it('loses no blob and releases none that it needs, whatever happens', () => {
    const command = fc.constantFrom<(index: number) => DocumentCommand>(
      () => ({ type: 'Start' }),
      (index) => batch(JOB, `b${index}`),
      (index) => batch(NEXT, `b${index}`),
      () => swap(JOB),
      () => swap(JOB, 'earlier'),
      () => swap(NEXT),
      () => discard(JOB),
      () => discard(NEXT, 'others'),
      () => discard(OTHER, 'others', [NEXT]),
      () => ({ type: 'Reprocess', force: true }),
    );
    const step = fc.oneof(
      command.map((make) => ({ make })),
      fc.constantFrom<'made' | 'ingested'>('made', 'ingested').map((what) => ({ what })),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        let state = run(...before).state;
        const held = new Set<string>();
        const released = new Set<string>();
        let revision = 10;
        const apply = (given: DocumentCommand) => {
          for (const event of documentDecider.decide(given, state)) {
            state = evolve(state, event, (revision += 1));
            const data = event.data as { superseded?: string[]; passages?: string; text?: string; chunks?: string };
            for (const name of [data.passages, data.text, data.chunks]) if (name !== undefined) held.add(name);
            for (const name of data.superseded ?? []) released.add(name);
          }
        };
        for (const [index, one] of steps.entries()) {
          if ('make' in one) apply(one.make(index));
          else if (one.what === 'ingested') {
            apply({ type: 'Start' });
            if ('attempt' in state) ingested(state.attempt).slice(1).map(apply);
          } else if ('indexed' in state && state.indexed !== null)
            apply(made(index % 2 === 0 ? JOB : NEXT, `n${index}`, state.indexed.passages, state.indexed.text));
        }
        if (!('indexed' in state)) return;
        const kept = new Set(allBlobs(state));
        for (const name of held) expect([name, kept.has(name) || released.has(name)]).toEqual([name, true]);
        for (const name of [state.file, state.indexed?.text, state.indexed?.passages, state.standby?.passages])
          if (name !== undefined) expect([name, released.has(name)]).toEqual([name, false]);
      }),
    );
  });
});
