import { idNumbered } from '../../../test/fixtures/invocations';
import { callWithInput, ended, openSpending } from '../../../test/fixtures/spending';
import { until } from '../../../test/fixtures/until';

const USER = idNumbered(1);

it('counts a call once that others recorded before all its limits held for it, since its process was taken for dead', async () => {
  const spending = openSpending();
  const limitIds = [
    await spending.setLimit({ type: 'user', id: USER }),
    await spending.setLimit({ type: 'instance', id: null }, { amount: '1' }),
  ] as const;
  const paused = spending.process();
  const append = spending.log.append.bind(spending.log);
  const gate = Promise.withResolvers<void>();
  let isHeldBack = false;
  // The log is slow to hold under the second limit.
  jest.spyOn(spending.log, 'append').mockImplementation(async (stream, events, expected) => {
    if (!isHeldBack && stream.endsWith(limitIds[1]) && events.some(({ type }) => type === 'SpendMoved')) {
      isHeldBack = true;
      await gate.promise;
    }
    return append(stream, events, expected);
  });
  const begun = paused.ledger.begin(callWithInput(USER, 30, 7));
  await until(async () => isHeldBack && (await spending.state(limitIds[0]))[1] === 30n, 'the hold under the first');
  paused.setSilent(true);
  expect(await spending.state(limitIds[0])).toEqual([7n, 0n]);
  await until(async () => (await spending.state(limitIds[1]))[0] === 7n, 'its cost under the second');
  paused.setSilent(false);
  gate.resolve();
  const call = await begun;
  expect(await spending.state(limitIds[1])).toEqual([7n, 30n]);
  await call.settle(ended(20));
  for (const limitId of limitIds) expect(await spending.state(limitId)).toEqual([7n, 0n]);
  expect((await spending.invocations()).map(({ cost }) => cost)).toEqual(['7']);
});
