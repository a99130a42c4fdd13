import { READ_STORE, type ReadStore } from '@app/read-store';
import type { Answer } from './harness';
import { type Memory, type MemoryWorld, startMemoryWorld } from './memory-world';

let world: MemoryWorld;
beforeAll(async () => (world = await startMemoryWorld()));
afterAll(() => world.platform.stop());

describe('before the view shows a memory', () => {
  /** Keeps the view of memories from what comes. */
  const whileHeld = async <T>(asks: (release: () => void) => Promise<T>): Promise<T> => {
    const store = world.platform.platform.app.get<ReadStore>(READ_STORE);
    const commit = store.commit.bind(store);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const held = jest.spyOn(store, 'commit').mockImplementation(async (batch) => {
      if (batch.view === 'memories') await released;
      return commit(batch);
    });
    try {
      return await asks(release);
    } finally {
      release();
      held.mockRestore();
    }
  };

  const add = async (kind: 'personal' | 'shared', text: string): Promise<string> => {
    const { status, headers } = await world.post(world.editor.key, { text, kind });
    expect([status, headers['x-view-late']]).toEqual([201, 'true']);
    return String(headers['location']);
  };

  it.each<[string, 'personal' | 'shared', 'PUT' | 'POST' | 'DELETE', string, object | undefined, number]>([
    ['changed', 'personal', 'PUT', '', { text: 'Likes ferries.' }, 200],
    ['deleted', 'personal', 'DELETE', '', undefined, 204],
    ['confirmed', 'shared', 'POST', '/confirm', undefined, 200],
    ['discarded', 'shared', 'POST', '/discard', undefined, 204],
  ])('it is %s by its user, and unknown to others', async (what, kind, method, at, body, status) => {
    const answered = await whileHeld(async (release) => {
      const path = `${await add(kind, `Likes trains: ${what}.`)}${at}`;
      const asked = (key: string): Promise<Answer<Memory>> =>
        world.platform.call<Memory>(path, { method, key, ...(body && { body }) });
      const others = [world.viewer, world.stranger].map(async ({ key }) => (await asked(key)).status);
      expect(await Promise.all(others)).toEqual([404, 404]);
      const changed = asked(world.editor.key);
      // What asks the view has its answer by then; what waits for it does not.
      await Promise.race([changed, new Promise((resolve) => setTimeout(resolve, 300))]);
      release();
      return changed;
    });
    expect([answered.status, answered.text]).toEqual([status, expect.any(String)]);
  });
});
