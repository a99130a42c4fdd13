import { UpdateUser, CreateUser } from '@app/identity';
import { Unavailable } from '@app/kernel';
import {
  UpdateSpace,
  CreateSpace,
  DeleteSpace,
  ReleaseNamesOfSpaces,
  spaceDecider,
  type SpaceEvent,
} from '@app/spaces';
import { until } from '../../../test/fixtures/until';
import { openTenancy, outcomes, pause, type Tenancy } from '../../../test/fixtures/tenancy';
import { happened } from '../../../test/fixtures/view';
import { RESERVATION_GRACE_MS } from './reservations';

let tenancy: Tenancy;
beforeAll(async () => (tenancy = await openTenancy()));
afterAll(() => tenancy.close());

const space = (name: string) => ({ name, description: '', color: '#000000' });
const create = (at: ReturnType<Tenancy['process']>, name: string, meta = tenancy.meta()) =>
  at.createSpace.execute(new CreateSpace(meta.commandId, space(name), meta));

const rename = (
  at: ReturnType<Tenancy['process']>,
  spaceId: string,
  name: string,
  given: Parameters<Tenancy['meta']>[0] = {},
) => at.updateSpace.execute(new UpdateSpace(spaceId, { name }, tenancy.meta(given)));

/** A process whose command waits ahead of its append of an event of this type. */
const waitingBefore = (type: string) => {
  const { hold, reached, goOn } = pause();
  return { process: tenancy.process((_, types) => (types.includes(type) ? hold() : undefined)), reached, goOn };
};

/** A process that dies when it is about to append an event of this type. */
const dyingBefore = (type: string) =>
  tenancy.process((_, types) => {
    if (types.includes(type)) throw new Unavailable('log', 'the process died', 'unknown');
  });

describe('a name that must be unique', () => {
  it('goes to exactly one of many who ask in two processes at once', async () => {
    const processes = [tenancy.process(), tenancy.process()];
    for (let round = 0; round < 5; round += 1) {
      const attempts = Array.from({ length: 10 }, (_, n) =>
        create(processes[n % 2] as (typeof processes)[0], `Round ${round}`),
      );
      expect(await outcomes(attempts)).toEqual(['done', ...Array.from({ length: 9 }, () => 'name_taken')]);
    }
  });

  it('is not blocked by who died before using it, once they had the time', async () => {
    await expect(create(dyingBefore('SpaceCreated'), 'Dead')).rejects.toThrow('the process died');
    const alive = tenancy.process();
    await expect(create(alive, 'Dead')).rejects.toMatchObject({ code: 'name_taken', facts: { path: 'name' } });
    tenancy.clock.advance(RESERVATION_GRACE_MS);
    await expect(create(alive, 'Dead')).resolves.toMatchObject({ receipt: { repeated: false } });
  });

  it('is free again at once for others where a store did not serve, and nothing was done', async () => {
    const away = tenancy.process((_, types) => {
      if (types.includes('SpaceCreated')) throw new Unavailable('vault', 'no answer');
    });
    await expect(create(away, 'Not served')).rejects.toMatchObject({ dependency: 'vault', outcome: 'none' });
    await expect(create(tenancy.process(), 'Not served')).resolves.toMatchObject({ receipt: { repeated: false } });
  });

  it('is not used after all by who was only slow, however late', async () => {
    const { hold, reached, goOn } = pause();
    const slow = tenancy.process((_, types) => (types.includes('SpaceCreated') ? hold() : undefined));
    const late = create(slow, 'Slow');
    await reached;
    tenancy.clock.advance(RESERVATION_GRACE_MS);
    await expect(create(tenancy.process(), 'Slow')).resolves.toBeDefined();
    goOn();
    await expect(late).rejects.toMatchObject({ code: 'name_taken' });
  });

  it('is free again at once for others when its command is rejected', async () => {
    const process = tenancy.process();
    const { spaceId } = await create(process, 'Rejected change');
    const rejected = process.updateSpace.execute(
      new UpdateSpace(spaceId, { name: 'Wanted' }, tenancy.meta({ ifRevision: 7 })),
    );
    await expect(rejected).rejects.toMatchObject({ code: 'precondition_failed' });
    await expect(create(process, 'Wanted')).resolves.toBeDefined();
  });

  it('is free a moment later where the log is away when it is given back behind a rejection, which is told all the same', async () => {
    const alive = tenancy.process();
    const { spaceId } = await create(alive, 'Rejected while away');
    let failures = 2;
    const away = tenancy.process((_, types) => {
      if (types.includes('NameReleased') && failures-- > 0) throw new Unavailable('log', 'away');
    });
    const rejected = away.updateSpace.execute(
      new UpdateSpace(spaceId, { name: 'Wanted while away' }, tenancy.meta({ ifRevision: 7 })),
    );
    await expect(rejected).rejects.toMatchObject({ code: 'precondition_failed' });
    await expect(create(alive, 'Wanted while away')).rejects.toMatchObject({ code: 'name_taken' });
    await until(
      () =>
        create(alive, 'Wanted while away').then(
          () => true,
          () => false,
        ),
      'the name',
    );
  });

  it('is released by the policy where its command died before it could, and never from its next holder', async () => {
    const alive = tenancy.process();
    const { spaceId } = await create(alive, 'Old name');
    const dying = dyingBefore('NameReleased');
    await dying.deleteSpace.execute(new DeleteSpace(spaceId, tenancy.meta()));
    await expect(create(alive, 'Old name')).rejects.toMatchObject({ code: 'name_taken' });

    const [deleted] =
      (await alive.decisions.load(spaceDecider, spaceId)).state.status === 'deleted'
        ? await tenancy.log.readStream(`space-${spaceId}`, { direction: 'backwards', limit: 1 })
        : [];
    const event = happened(`space-${spaceId}`, 1, {
      type: 'SpaceDeleted',
      data: JSON.parse(deleted?.data ?? '{}'),
    } as SpaceEvent);
    const policy = new ReleaseNamesOfSpaces(alive.reservations, tenancy.clock);
    const react = () => policy.react({ ...event, context: { ...event.context, commandId: tenancy.ids.next() } });
    await react();
    await expect(create(alive, 'Old name')).resolves.toBeDefined();
    await react();
    await expect(create(alive, 'Old name')).rejects.toMatchObject({ code: 'name_taken' });
  });

  it('does not undo what is done where the log goes away before it can be given back, and is free after the grace', async () => {
    const alive = tenancy.process();
    const { spaceId } = await create(alive, 'Left behind');
    const away = tenancy.process((_, types) => {
      if (types.includes('NameReleased')) throw new Unavailable('log', 'away');
    });
    await expect(rename(away, spaceId, 'Taken on')).resolves.toMatchObject({ revision: 1 });
    await expect(create(alive, 'Left behind')).rejects.toMatchObject({ code: 'name_taken' });
    tenancy.clock.advance(RESERVATION_GRACE_MS);
    expect(await outcomes([create(alive, 'Left behind'), create(alive, 'Taken on')])).toEqual(['done', 'name_taken']);
  });

  it('is kept by one who comes back to it before it was released', async () => {
    const process = tenancy.process();
    const { spaceId } = await create(process, 'Back');
    await process.updateSpace.execute(new UpdateSpace(spaceId, { name: 'Forth' }, tenancy.meta()));
    await process.updateSpace.execute(new UpdateSpace(spaceId, { name: 'Back' }, tenancy.meta()));
    tenancy.clock.advance(RESERVATION_GRACE_MS);
    expect(await outcomes([create(process, 'Back'), create(process, 'Forth')])).toEqual(['done', 'name_taken']);
  });
});

describe('commands of one aggregate to one name', () => {
  it('leave the name to the one that is done, whoever of them is rejected, and whenever', async () => {
    const process = tenancy.process();
    const { spaceId } = await create(process, 'Two at once');
    expect(
      await outcomes([
        rename(process, spaceId, 'Won', { ifRevision: 0 }),
        rename(process, spaceId, 'Won', { ifRevision: 0 }),
      ]),
    ).toEqual(['done', 'precondition_failed']);
    await expect(create(process, 'Won')).rejects.toMatchObject({ code: 'name_taken' });

    const slow = waitingBefore('SpaceChanged');
    const late = rename(slow.process, spaceId, 'Won late');
    await slow.reached;
    await expect(rename(process, spaceId, 'Won late', { ifRevision: 7 })).rejects.toMatchObject({
      code: 'precondition_failed',
    });
    await expect(create(process, 'Won late')).rejects.toMatchObject({ code: 'name_taken' });
    slow.goOn();
    await late;
    await expect(create(process, 'Won late')).rejects.toMatchObject({ code: 'name_taken' });
  });

  it('give it back when the aggregate does, also the one that found nothing left to change', async () => {
    const process = tenancy.process();
    const { spaceId } = await create(process, 'Before');
    const late = waitingBefore('SpaceChanged');
    const second = rename(late.process, spaceId, 'Twice');
    await late.reached;
    await rename(process, spaceId, 'Twice');
    late.goOn();
    await second;
    await expect(create(process, 'Twice')).rejects.toMatchObject({ code: 'name_taken' });
    await process.deleteSpace.execute(new DeleteSpace(spaceId, tenancy.meta()));
    await expect(create(process, 'Twice')).resolves.toBeDefined();
  });

  it('block it no longer than the grace where one died beside the one that was done', async () => {
    const process = tenancy.process();
    const { spaceId } = await create(process, 'Alive');
    await expect(rename(dyingBefore('SpaceChanged'), spaceId, 'Half dead')).rejects.toThrow('the process died');
    await rename(process, spaceId, 'Half dead');
    tenancy.clock.advance(RESERVATION_GRACE_MS);
    await expect(create(process, 'Half dead')).rejects.toMatchObject({ code: 'name_taken' });
    await process.deleteSpace.execute(new DeleteSpace(spaceId, tenancy.meta()));
    await expect(create(process, 'Half dead')).resolves.toBeDefined();
  });

  it('take nothing from what came after them when they are repeated', async () => {
    const process = tenancy.process();
    const { spaceId } = await create(process, 'One');
    const { commandId } = tenancy.meta();
    await rename(process, spaceId, 'Two', { commandId });
    await rename(process, spaceId, 'Three');
    await expect(rename(process, spaceId, 'Two', { commandId })).resolves.toMatchObject({ repeated: true });
    await expect(create(process, 'Three')).rejects.toMatchObject({ code: 'name_taken' });
    await expect(create(process, 'Two')).resolves.toBeDefined();
  });

  it('do not bring a name back that was given up while they were on their way', async () => {
    const process = tenancy.process();
    const { spaceId } = await create(process, 'Given up');
    const late = waitingBefore('SpaceChanged');
    const stale = late.process.updateSpace.execute(new UpdateSpace(spaceId, { name: 'GIVEN UP' }, tenancy.meta()));
    await late.reached;
    await rename(process, spaceId, 'Moved on');
    await expect(create(process, 'Given up')).resolves.toBeDefined();
    late.goOn();
    await expect(stale).rejects.toMatchObject({ code: 'name_taken' });
  });

  it('hold for mail addresses too', async () => {
    const process = tenancy.process();
    const user = (email: string) =>
      process.createUser.execute(new CreateUser({ email, name: 'U', role: 'member', language: 'en' }, tenancy.meta()));
    const { userId } = await user('old@example.com');
    const late = waitingBefore('UserChanged');
    const stale = late.process.updateUser.execute(
      new UpdateUser(userId, { email: 'OLD@example.com' }, undefined, tenancy.meta()),
    );
    await late.reached;
    const move = () =>
      process.updateUser.execute(
        new UpdateUser(userId, { email: 'new@example.com' }, undefined, tenancy.meta({ ifRevision: 0 })),
      );
    expect(await outcomes([move(), move()])).toEqual(['done', 'precondition_failed']);
    expect(await outcomes([user('new@example.com'), user('old@example.com')])).toEqual(['done', 'name_taken']);
    late.goOn();
    await expect(stale).rejects.toMatchObject({ code: 'name_taken' });
  });
});
