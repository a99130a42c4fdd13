import type { LogPage, ReadAllOptions } from '@app/event-log';
import { DomainError, type StoredEvent } from '@app/kernel';
import type { Projecting } from '@app/projecting';
import { buildsReached } from './builds-reached';

type State = 'building' | 'paused' | 'failed' | 'verifying' | 'ready' | 'swapped' | 'removing' | undefined;

/** One view with a rebuild in a state; its builds stand where `positions` says, one answer after the other. The log holds an event of it at `eventAt`. */
const setUp = (state: State, positions: readonly string[] = [], eventAt = '5') => {
  const startedOver: string[] = [];
  const answers = [...positions];
  const rebuild = (view: string) => ({
    status: () => (state === undefined ? undefined : { state }),
    startOver: async () => {
      startedOver.push(view);
      if (state === 'failed') throw new DomainError('rebuild_not_ready');
    },
  });
  const store = {
    versions: async () => [1],
    checkpoint: async () => ({ position: (answers.length > 1 ? answers.shift() : answers[0]) ?? '9', handled: 0 }),
  };
  const projecting = { rebuild } as unknown as Projecting;
  /** Passes over one event of another type a page. */
  const readAll = async ({ after }: ReadAllOptions = {}): Promise<LogPage> => {
    const next = String(Number(after ?? 0) + 1);
    return { events: next === eventAt ? [{ position: next } as StoredEvent] : [], next, end: next === '9' };
  };
  const parts = { projecting, projections: [{ name: 'agents', types: ['AgentDeleted'] }], log: { readAll }, stores: [store] };
  return { startedOver, answers, run: () => buildsReached(parts, '5') };
};

describe('an erasure and the builds beside', () => {
  it.each(['paused', 'failed'] as const)('has a %s build begin anew, also where it was resumed in this moment', async (state) => {
    const { startedOver, run } = setUp(state);
    await run();
    expect(startedOver).toEqual(['agents']);
  });

  it.each([undefined, 'building', 'verifying', 'removing'] as const)('does not wait for a build in state %s', async (state) => {
    const { startedOver, run } = setUp(state, ['1']);
    await run();
    expect(startedOver).toEqual([]);
  });

  it.each(['ready', 'swapped'] as const)('waits for the build beside in state %s to pass the deletion', async (state) => {
    const { answers, run } = setUp(state, ['3', '4', '5']);
    await run();
    expect(answers).toEqual(['5']);
  });

  it.each(['2', '7'])('does not wait for a build that has handled all it reads, in a log where others stand: its next event is at %s', async (eventAt) => {
    const { run } = setUp('swapped', ['3'], eventAt);
    await run();
  }, 2_000);
});
