import { startTestPlatform, type TestPlatform } from './harness';
import { searchesWithinPeriods, tallied } from './ready-periods';

let platform: TestPlatform;
beforeAll(async () => (platform = await startTestPlatform()), 60_000);
afterAll(() => platform.stop());

test('a document is found while it is Ready and never while it is not, through 200 replacements, re-processes and failures', async () => {
  for (const { mode, ready, notReady } of tallied(await searchesWithinPeriods(platform, 200))) {
    expect({ mode, missed: ready.missed, found: notReady.found }).toEqual({ mode, missed: 0, found: 0 });
    // Enough of both to have seen one that is wrong.
    expect(Math.min(ready.found, notReady.missed)).toBeGreaterThan(20);
  }
}, 600_000);
