import { until } from '../fixtures/until';
import { sendBroken } from './several-appends';
import { REQUESTS } from './several-appends-requests';
import { isDone, platform, sendOf, withModels } from './several-appends-world';

/** Every request that appends more than once. Each is broken at each append in `test/exhaustive/several-appends.spec.ts`. */

withModels();

describe.each(REQUESTS)('%s: %s', (_route, _title, count, prepare) => {
  it('appends no more often than it is broken', async () => {
    const { sent, times, isConsistent } = await prepare();
    const { answer, appends } = await sendBroken(platform, sendOf(sent));
    expect([isDone(answer), answer.text]).toEqual([true, answer.text]);
    // Fewer where a policy was faster with what it would make too.
    expect(appends).toBeGreaterThan(0);
    expect(appends).toBeLessThanOrEqual(count);
    await until(async () => (await times()) === 1 && (await isConsistent()), 'all of it');
  });
});
