import { until } from '../fixtures/until';
import { type Fault, sendBroken } from '../e2e/several-appends';
import { REQUESTS } from '../e2e/several-appends-requests';
import { isDone, name, platform, sendOf, withModels } from '../e2e/several-appends-world';

/**
 * Every request that appends more than once, broken at each append. What is answered with an error has left nothing behind
 * (`outcome: none`), or is finished: by a repeat under its Idempotency-Key, and where none comes by a policy. That there are no
 * more appends: `test/e2e/several-appends.long-spec.ts`.
 */

withModels();

describe.each(REQUESTS)('%s: %s', (_route, _title, count, prepare) => {
  const faults = Array.from({ length: count }, (__, index) =>
    (['away', 'lost', 'raced'] as const).map((fault): readonly [Fault, number] => [fault, index + 1]),
  ).flat();

  it.each(faults)('that is %s at append %d leaves nothing behind, or is finished', async (fault, n) => {
    const { sent, times, isConsistent } = await prepare();
    const { answer } = await sendBroken(platform, sendOf(sent), n, fault);
    if (fault === 'raced') expect(answer.status).toBeLessThan(300);
    if (!isDone(answer)) {
      expect(answer).toMatchObject({ status: 503, body: { outcome: expect.stringMatching(/^(?:none|unknown)$/) } });
      // Then it may be sent as if for the first time.
      if (answer.body['outcome'] === 'none')
        expect([await times(), isDone(await sendOf(sent)({})), await times()]).toEqual([0, true, 1]);
    }
    await until(isConsistent, 'that all of it is there, or nothing', { patience: 20_000, every: 50 });
    expect(await times()).toBeLessThanOrEqual(1);
  });

  it.each(faults)(
    'that is %s at append %d is finished by a repeat under its key, and happens once',
    async (fault, n) => {
      const { sent, times, isConsistent, forgotten } = await prepare();
      if (sent.payload !== undefined) return;
      const send = sendOf(sent, { 'idempotency-key': name('key') });
      const first = await sendBroken(platform, send, n, fault);
      let again = first.answer;
      // What is in the way for a moment, such as an answer that is being recorded, is asked for again, as clients do.
      await until(async () => isDone((again = await send({}))), 'the answer to a repeat', {
        patience: 20_000,
        every: 100,
      });
      expect(again.status).toBeLessThan(300);
      await until(async () => (await times()) === 1 && (await isConsistent()), 'all of it', {
        patience: 20_000,
        every: 50,
      });
      const replay = await send({});
      expect([replay.status, replay.body]).toEqual([
        again.status,
        forgotten ? { ...again.body, ...forgotten } : again.body,
      ]);
      expect(await times()).toBe(1);
    },
  );
});
