import { Unavailable } from '@app/kernel';
import { ChangeSpace, CreateSpace, DeleteSpace, releaseSpaceNames, spaceDecider, type SpaceEvent } from '@app/spaces';
import { openTenancy, outcomes, pause, type Tenancy } from '../../../test/fixtures/tenancy';
import { happened } from '../../../test/fixtures/view';
import { RESERVATION_GRACE_MS } from './reservations';

let tenancy: Tenancy;
beforeAll(async () => (tenancy = await openTenancy()));
afterAll(() => tenancy.close());

const space = (name: string) => ({ name, description: '', color: '#000000' });
const create = (at: ReturnType<Tenancy['process']>, name: string, meta = tenancy.meta()) => at.createSpace.execute(new CreateSpace(meta.commandId, space(name), meta));

/** A process that dies when it is about to append an event of this type. */
const dyingBefore = (type: string) =>
  tenancy.process((_, types) => {
    if (types.includes(type)) throw new Unavailable('log', 'the process died', 'unknown');
  });

describe('a name that must be unique', () => {
  it('goes to exactly one of many who ask in two processes at once', async () => {
    const processes = [tenancy.process(), tenancy.process()];
    for (let round = 0; round < 5; round += 1) {
      const attempts = Array.from({ length: 10 }, (_, n) => create(processes[n % 2] as (typeof processes)[0], `Round ${round}`));
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

  it('is free again at once for others when its command is refused', async () => {
    const process = tenancy.process();
    const { spaceId } = await create(process, 'Refused change');
    const refused = process.changeSpace.execute(new ChangeSpace(spaceId, { name: 'Wanted' }, tenancy.meta({ ifRevision: 7 })));
    await expect(refused).rejects.toMatchObject({ code: 'precondition_failed' });
    await expect(create(process, 'Wanted')).resolves.toBeDefined();
  });

  it('is released by the policy where its command died before it could, and never from its next holder', async () => {
    const alive = tenancy.process();
    const { spaceId } = await create(alive, 'Old name');
    const dying = dyingBefore('NameReleased');
    await expect(dying.deleteSpace.execute(new DeleteSpace(spaceId, tenancy.meta()))).rejects.toThrow('the process died');
    await expect(create(alive, 'Old name')).rejects.toMatchObject({ code: 'name_taken' });

    const [deleted] = (await alive.decisions.load(spaceDecider, spaceId)).state.status === 'deleted' ? await tenancy.log.readStream(`space-${spaceId}`, { direction: 'backwards', limit: 1 }) : [];
    const event = happened(`space-${spaceId}`, 1, { type: 'SpaceDeleted', data: JSON.parse(deleted?.data ?? '{}') } as SpaceEvent);
    const policy = releaseSpaceNames({ reservations: alive.reservations, clock: tenancy.clock });
    const react = () => policy.react({ ...event, context: { ...event.context, commandId: tenancy.ids.next() } });
    await react();
    await expect(create(alive, 'Old name')).resolves.toBeDefined();
    await react();
    await expect(create(alive, 'Old name')).rejects.toMatchObject({ code: 'name_taken' });
  });

  it('is kept by one who comes back to it before it was released', async () => {
    const process = tenancy.process();
    const { spaceId } = await create(process, 'Back');
    await process.changeSpace.execute(new ChangeSpace(spaceId, { name: 'Forth' }, tenancy.meta()));
    await process.changeSpace.execute(new ChangeSpace(spaceId, { name: 'Back' }, tenancy.meta()));
    tenancy.clock.advance(RESERVATION_GRACE_MS);
    expect(await outcomes([create(process, 'Back'), create(process, 'Forth')])).toEqual(['done', 'name_taken']);
  });
});
