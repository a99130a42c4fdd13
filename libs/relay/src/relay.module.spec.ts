import { Policies } from '@app/projecting';
import { openContext } from '../../../test/fixtures/context';
import { EVENT_RELAY, type Relay } from './relay';
import { RelayModule } from './relay.module';

/** Nobody listens here: a relay reaches for its brokers when it starts, and none is started. */
const BROKERS = { KAFKA_BROKERS: '127.0.0.1:1' };

const opened = async (settings: Readonly<Record<string, string>>) => {
  const context = await openContext(RelayModule, [], settings);
  const relay = context.module.get<Relay | undefined>(EVENT_RELAY, { strict: false });
  const readers = await context.policies();
  await context.close();
  return { relay, readers };
};

describe('the module of the relay', () => {
  it('sends beside the policies where brokers are configured', async () => {
    const { relay, readers } = await opened(BROKERS);
    expect(relay?.counts).toEqual({ published: 0, failures: 0 });
    expect(readers).toEqual([relay?.name]);
  });

  it('has no relay where none are', async () => expect(await opened({})).toEqual({ relay: undefined, readers: [] }));

  it('rejects a second relay beside the first', async () => {
    const context = await openContext(RelayModule, [], BROKERS);
    const relay = context.module.get<Relay>(EVENT_RELAY, { strict: false });
    expect(() => context.module.get(Policies).addReader(relay)).toThrow('defined twice');
    await context.close();
  });
});
