import { retryRejected } from './retry-rejected';
import { Rejected } from './platform-client';

const rejected = (status: number, code: string, facts = {}): Rejected => new Rejected(status, code, facts, code);

/** Asks for what fails so often, and tells how long was waited each time. */
const asked = async (error: Error, failures: number) => {
  const waits: number[] = [];
  let asks = 0;
  const ask = async () => {
    if ((asks += 1) > failures) return 'done';
    throw error;
  };
  const outcome = await retryRejected(ask, async (milliseconds) => waits.push(milliseconds)).catch(
    (thrown: unknown) => thrown,
  );
  return { outcome, waits };
};

describe('a request of a sync', () => {
  it.each([
    ['comes too fast', rejected(429, 'rate_limited', { retryAfterSeconds: 7 }), 7_000],
    ['cannot be served now', rejected(503, 'unavailable', { retryAfterSeconds: 1 }), 1_000],
    ['meets a late view', rejected(503, 'view_unavailable'), 5_000],
    ['is asked to wait for long', rejected(429, 'rate_limited', { retryAfterSeconds: 3_600 }), 60_000],
  ])('is made again where it %s', async (_, error, wait) => {
    expect(await asked(error, 3)).toEqual({ outcome: 'done', waits: [wait, wait, wait] });
  });

  it('is given up where the platform stays away, and not where it is limited', async () => {
    const away = rejected(503, 'unavailable', { retryAfterSeconds: 1 });
    const { outcome, waits } = await asked(away, 1_000);
    expect([outcome, waits.length]).toEqual([away, 30]);
    expect((await asked(rejected(429, 'rate_limited'), 1_000)).outcome).toBe('done');
  });

  it.each([rejected(404, 'not_found'), rejected(500, 'internal'), new Error('nothing answers')])(
    'is not made again for %s',
    async (error) => expect(await asked(error, 1)).toEqual({ outcome: error, waits: [] }),
  );
});
