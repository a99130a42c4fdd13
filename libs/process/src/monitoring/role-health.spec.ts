import type { ProcessStatus } from '@app/coordination';
import { Health, type HealthParts, roleHealth } from './health';

const process = (id: string, alive: boolean, ...roles: readonly string[]): ProcessStatus => ({
  id,
  roles,
  alive,
  version: '1',
  startedAt: '',
  beatAt: '',
});

const reportOf = (alone: boolean, ...current: readonly ProcessStatus[]) => {
  const processes = { alone, status: async () => current };
  const none = async () => [];
  const others = {
    projecting: { status: none, names: () => [] },
    policies: { status: none },
    leases: { processes, status: none },
  };
  // Of the other parts health asks for lists alone, which are empty here.
  return new Health({
    dependencies: { log: async () => ({ ok: true }) },
    optional: roleHealth(processes),
    ...others,
    foreignEvents: async () => ({ events: 0, since: null }),
    unprovenEvents: async () => ({ events: 0, at: null }),
    reindexing: async () => ({ due: false, jobs: { running: 0, paused: 0, ready: 0, failed: 0 }, open: [] }),
    providers: () => [],
    version: '1',
  } as unknown as HealthParts).report();
};

describe('health, of processes that share the work', () => {
  it('is degraded when no living process has a role', async () => {
    expect(
      await reportOf(false, process('a', true, 'api'), process('b', true, 'projector'), process('c', false, 'worker')),
    ).toMatchObject({
      status: 'degraded',
      dependencies: { projector: { ok: true }, worker: { ok: false, reason: 'no running process has this role' } },
    });
  });

  it("is well when each role is somebody's, and of a process that does all says nothing", async () => {
    expect(await reportOf(false, process('a', true, 'api', 'worker'), process('b', true, 'projector'))).toMatchObject({
      status: 'up',
      dependencies: { worker: { ok: true } },
    });
    expect((await reportOf(true, process('a', true, 'api', 'projector', 'worker'))).dependencies).toEqual({
      log: { ok: true },
    });
  });
});
