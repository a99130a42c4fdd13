import { EVENT_LOG, type EventLog } from '@app/event-log';
import { until } from '../fixtures/until';
import type { Answer } from './harness';
import { whileHeld } from './held-views';
import { type Memory, type MemoryWorld, startMemoryWorld } from './memory-world';

let world: MemoryWorld;
beforeAll(async () => (world = await startMemoryWorld()));
afterAll(() => world.platform.stop());

describe('before the view shows a memory', () => {
  const revision = async (path: string): Promise<number> => {
    const log = world.platform.platform.app.get<EventLog>(EVENT_LOG);
    return (await log.readStream(`memory-${path.split('/').at(-1)}`)).at(-1)?.revision ?? -1;
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
    const answered = await whileHeld(world.platform.platform, ['memories'], async (release) => {
      const memory = await add(kind, `Likes trains: ${what}.`);
      const path = `${memory}${at}`;
      const asked = (key: string): Promise<Answer<Memory>> =>
        world.platform.call<Memory>(path, { method, key, ...(body && { body }) });
      const others = [world.viewer, world.stranger].map(async ({ key }) => (await asked(key)).status);
      expect(await Promise.all(others)).toEqual([404, 404]);
      const before = await revision(memory);
      const changed = asked(world.editor.key);
      // What asks the view is answered by then; what reads the log is written there, and waits for the view.
      await Promise.race([changed, until(async () => (await revision(memory)) > before, 'the change')]);
      release();
      return changed;
    });
    expect([answered.status, answered.text]).toEqual([status, expect.any(String)]);
  });
});
