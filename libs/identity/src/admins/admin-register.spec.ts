import { type CommandMeta, DomainError, Unavailable } from '@app/kernel';
import { openTenancy, outcomes, pause, type Tenancy } from '../../../../test/fixtures/tenancy';
import { UpdateUser } from '../user/commands/update-user';
import { CreateUser } from '../user/commands/create-user';
import { DeleteUser } from '../user/commands/delete-user';
import { SuspendUser } from '../user/commands/suspend-user';
import { isActiveAdmin, userDecider } from '../user/user.decider';

type Process = ReturnType<Tenancy['process']>;

let tenancy: Tenancy;
beforeEach(async () => (tenancy = await openTenancy()));
afterEach(() => tenancy.close());

let users = 0;
const admin = async (at: Process): Promise<string> => {
  users += 1;
  return (
    await at.createUser.execute(
      new CreateUser({ email: `a${users}@example.com`, name: 'A', role: 'admin', language: 'en' }, tenancy.meta()),
    )
  ).userId;
};
const demote = (at: Process, userId: string, meta: CommandMeta = tenancy.meta()) =>
  at.updateUser.execute(new UpdateUser(userId, {}, 'member', meta));
const promote = (at: Process, userId: string) =>
  at.updateUser.execute(new UpdateUser(userId, {}, 'admin', tenancy.meta()));
const suspend = (at: Process, userId: string) => at.suspendUser.execute(new SuspendUser(userId, tenancy.meta()));
const remove = (at: Process, userId: string) => at.deleteUser.execute(new DeleteUser(userId, tenancy.meta()));

const activeAdmins = async (at: Process, userIds: readonly string[]): Promise<number> => {
  const states = await Promise.all(userIds.map(async (userId) => at.decisions.load(userDecider, userId)));
  return states.filter(({ state }) => isActiveAdmin(state)).length;
};

describe('the last admin', () => {
  it('cannot be demoted, suspended or deleted', async () => {
    const process = tenancy.process();
    const only = await admin(process);
    expect(await outcomes([demote(process, only), suspend(process, only), remove(process, only)])).toEqual([
      'conflict',
      'conflict',
      'conflict',
    ]);
    const other = await admin(process);
    await suspend(process, other);
    await expect(demote(process, only)).rejects.toMatchObject({ code: 'conflict', facts: { reason: 'last_admin' } });
  });

  it.each([
    ['demote', demote],
    ['suspend', suspend],
    ['delete', remove],
  ])('remains when two admins %s each other in two processes', async (_, act) => {
    const [one, two] = [tenancy.process(), tenancy.process()];
    let survivor = await admin(one);
    for (let round = 0; round < 4; round += 1) {
      const pair = [survivor, await admin(two)] as const;
      expect(await outcomes([act(one, pair[0]), act(two, pair[1])])).toEqual(['conflict', 'done']);
      const states = await Promise.all(pair.map(async (userId) => one.decisions.load(userDecider, userId)));
      survivor = pair[states.findIndex(({ state }) => isActiveAdmin(state))] as string;
      expect(await activeAdmins(two, pair)).toBe(1);
    }
  });

  it('remains also when many commands promote, demote, suspend and delete at random', async () => {
    const processes = [tenancy.process(), tenancy.process(), tenancy.process()];
    const [first] = processes as [Process];
    const team = [await admin(first), await admin(first), await admin(first)];
    const acts = [demote, promote, suspend, demote];
    for (let round = 0; round < 12; round += 1) {
      await outcomes(
        Array.from({ length: 6 }, (_, n) =>
          (acts[(round + n * 7) % 4] as typeof demote)(
            processes[n % 3] as Process,
            team[(round * 5 + n) % 3] as string,
          ),
        ),
      );
      expect(await activeAdmins(first, team)).toBeGreaterThan(0);
    }
  });

  it('is counted right when a process dies between the register and the user', async () => {
    const alive = tenancy.process();
    const [one, two] = [await admin(alive), await admin(alive)];
    const dying = tenancy.process((_, types) => {
      if (types.includes('UserRoleChanged')) throw new Unavailable('log', 'the process died', 'unknown');
    });
    const meta = tenancy.meta();
    await expect(demote(dying, one, meta)).rejects.toThrow('the process died');
    await expect(demote(alive, two)).rejects.toMatchObject({ code: 'conflict' });
    await demote(alive, one, meta);
    expect(await activeAdmins(alive, [one, two])).toBe(1);
  });

  it.each([
    ['demote', 'UserRoleChanged', demote],
    ['suspend', 'UserSuspended', suspend],
    ['delete', 'UserDeleted', remove],
  ])(
    'is reinstated by whoever needs them where a process that was to %s them died in between',
    async (_, event, act) => {
      const alive = tenancy.process();
      const [one, two] = [await admin(alive), await admin(alive)];
      const dying = tenancy.process((__, types) => {
        if (types.includes(event)) throw new Unavailable('log', 'the process died', 'unknown');
      });
      await expect(act(dying, one)).rejects.toThrow('the process died');
      await expect(act(alive, two)).rejects.toMatchObject({ code: 'conflict' });
      tenancy.clock.advance(10_000);
      await act(alive, two);
      expect(await activeAdmins(alive, [one, two])).toBe(1);
      expect(isActiveAdmin((await alive.decisions.load(userDecider, one)).state)).toBe(true);
      await expect(act(alive, one)).rejects.toMatchObject({ code: 'conflict' });
    },
  );

  it('counts at once again where what was to end them is rejected, and a repeat ends them then', async () => {
    const alive = tenancy.process();
    const [one, two] = [await admin(alive), await admin(alive)];
    let rejections = 1;
    const rejecting = tenancy.process((_, types) => {
      if (types.includes('UserSuspended') && rejections-- > 0) throw new DomainError('conflict');
    });
    const meta = tenancy.meta();
    const again = () => rejecting.suspendUser.execute(new SuspendUser(one, meta));
    await expect(again()).rejects.toMatchObject({ code: 'conflict' });
    await suspend(alive, two);
    await expect(again()).rejects.toMatchObject({ facts: { reason: 'last_admin' } });
    await alive.createUser.execute(
      new CreateUser({ email: 'third@example.com', name: 'A', role: 'admin', language: 'en' }, tenancy.meta()),
    );
    await again();
    expect((await alive.decisions.load(userDecider, one)).state.status).toBe('suspended');
  });

  it('holds against a demotion that arrives after a new appointment', async () => {
    const alive = tenancy.process();
    const [one, two] = [await admin(alive), await admin(alive)];
    const { hold, reached, goOn } = pause();
    const slow = tenancy.process((_, types) => (types.includes('UserRoleChanged') ? hold() : undefined));
    const late = demote(slow, one);
    await reached;
    await promote(alive, one);
    await demote(alive, two);
    goOn();
    await expect(late).rejects.toMatchObject({ code: 'conflict' });
    expect(await activeAdmins(alive, [one, two])).toBe(1);
  });
});
