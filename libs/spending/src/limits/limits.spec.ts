import { apiKeyDecider, userDecider } from '@app/identity';
import type { CommandMeta } from '@app/kernel';
import { idNumbered } from '../../../../test/fixtures/invocations';
import { openSpending } from '../../../../test/fixtures/spending';

const USER = idNumbered(1);
const KEY = idNumbered(3);
const START = '2026-11-18T15:00:00.000Z';
const meta: CommandMeta = {
  commandId: idNumbered(9),
  correlationId: idNumbered(9),
  actor: 'user:u',
  now: new Date(START),
};

const setUp = async () => {
  const spending = openSpending();
  const { limits, decisions } = spending.process();
  const mailClaim = { key: 'user.email.h1', ticket: idNumbered(8) };
  await decisions.transact(
    userDecider,
    USER,
    {
      type: 'Create',
      userId: USER,
      email: 'a@example.com',
      name: 'A',
      role: 'member',
      language: 'en',
      usageWindowStart: START,
      mailClaim,
    },
    meta,
  );
  const anchors = async () =>
    (await limits.of({ userId: USER, keyId: KEY })).map(({ id, account }) => [id, account.calendar.anchor]);
  return { spending, limits, decisions, anchors };
};

describe('the limits of a call', () => {
  it('begin the weeks of a user when theirs do, and no other windows', async () => {
    const { spending, anchors } = await setUp();
    const [user, all] = [{ type: 'user', id: USER } as const, { type: 'instance', id: null } as const];
    const week = await spending.setLimit(user, { window: 'week' });
    const day = await spending.setLimit(user, { window: 'day' });
    const wide = await spending.setLimit(all, { window: 'week' });
    await spending.setLimit({ type: 'user', id: idNumbered(2) }, { window: 'week' });
    expect(await anchors()).toEqual([
      [week, START],
      [day, null],
      [wide, null],
    ]);
  });

  it('are those of its key, until that is revoked', async () => {
    const { spending, limits, decisions, anchors } = await setUp();
    await spending.addKey(KEY, USER, { amount: '1', window: 'week' });
    expect(await anchors()).toEqual([[KEY, null]]);
    expect((await limits.revisedById(KEY)).revision).toBe(0);
    await decisions.transact(apiKeyDecider, KEY, { type: 'Revoke' }, { ...meta, commandId: idNumbered(7) });
    expect(await anchors()).toEqual([]);
    await expect(limits.byId(KEY)).rejects.toMatchObject({ code: 'not_found' });
  });
});
