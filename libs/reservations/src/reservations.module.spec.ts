import { openContext } from '../../../test/fixtures/context';
import { Reservations } from './reservations';
import { ReservationsModule } from './reservations.module';

let context: Awaited<ReturnType<typeof openContext>>;
beforeAll(async () => (context = await openContext(ReservationsModule)));
afterAll(() => context.close());

it('the module of reservations exports what holds a name for one aggregate alone', async () => {
  const { meta, module } = context;
  const reservations = module.get(Reservations, { strict: false });
  const hold = (owner: string) => {
    const claim = reservations.claim('space.slug', 'north');
    const claimant = {
      owner,
      forfeit: () => Promise.reject(new Error('it is used')),
      uses: async () => [claim],
    };
    return reservations.hold([claim], claimant, meta(), async () => owner);
  };
  expect(await hold('space-1')).toBe('space-1');
  await expect(hold('space-2')).rejects.toMatchObject({ code: 'name_taken' });
});
