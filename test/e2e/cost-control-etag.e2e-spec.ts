import { ShownLimits } from '../../apps/api/src/core/cost-control/shown-limits';
import { startTestPlatform } from './harness';

const LIMITS = '/api/v1/core/cost-control';

it('a limit that changes while it is read has the etag of what is shown, by which no change is lost', async () => {
  const platform = await startTestPlatform({});
  const body = { scope: { type: 'instance' }, amount: '1', window: 'month' };
  const { id } = (await platform.call<{ id: string }>(LIMITS, { method: 'POST', body })).body;
  const change = (amount: string, headers: Record<string, string> = {}) =>
    platform.call(`${LIMITS}/${id}`, { method: 'PUT', body: { amount }, headers });
  const { show } = ShownLimits.prototype;
  const showing = jest.spyOn(ShownLimits.prototype, 'show').mockImplementationOnce(async function (
    this: ShownLimits,
    limit,
  ) {
    expect((await change('2')).status).toBe(200);
    return show.call(this, limit);
  });
  const read = await platform.call<{ amount: string }>(`${LIMITS}/${id}`);
  showing.mockRestore();
  expect(read.body.amount).toBe('1');
  expect((await change('3', { 'if-match': String(read.headers['etag']) })).status).toBe(412);
  await platform.stop();
});
