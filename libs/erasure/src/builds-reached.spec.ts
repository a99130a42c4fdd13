import { DomainError } from '@app/kernel';
import type { Projecting } from '@app/projecting';
import { buildsReached } from './builds-reached';

type State = 'building' | 'paused' | 'failed' | 'verifying' | 'ready' | 'swapped' | 'removing' | undefined;

/** One view with a rebuild in a state, whose builds say whether they have passed the deletion: one answer after the other. */
const setUp = (
  state: State,
  reached: readonly boolean[] = [],
  failure: Error = new DomainError('rebuild_not_ready'),
) => {
  const startedOver: string[] = [];
  const answers = [...reached];
  const rebuild = (view: string) => ({
    status: async () => (state === undefined ? undefined : { state }),
    startOver: async () => {
      startedOver.push(view);
      if (state === 'failed') throw failure;
    },
  });
  // What is asked of it here.
  const projecting = { rebuild, buildsReached: async () => answers.shift() } as unknown as Projecting;
  return { startedOver, answers, run: () => buildsReached(projecting, ['agents'], '5') };
};

describe('an erasure and the builds beside', () => {
  it.each(['paused', 'failed'] as const)(
    'has a %s build begin anew, also where it was resumed in this moment',
    async (state) => {
      const { startedOver, run } = setUp(state);
      await run();
      expect(startedOver).toEqual(['agents']);
    },
  );

  it('is not over where a build cannot begin anew', async () =>
    expect(setUp('failed', [], new Error('damaged')).run()).rejects.toThrow('damaged'));

  it.each([undefined, 'building', 'verifying', 'removing'] as const)(
    'does not wait for a build in state %s',
    async (state) => {
      const { startedOver, answers, run } = setUp(state, [false]);
      await run();
      expect([startedOver, answers]).toEqual([[], [false]]);
    },
  );

  it.each(['ready', 'swapped'] as const)(
    'waits for the build beside in state %s to pass the deletion',
    async (state) => {
      const { answers, run } = setUp(state, [false, false, true, false]);
      await run();
      expect(answers).toEqual([false]);
    },
  );
});
