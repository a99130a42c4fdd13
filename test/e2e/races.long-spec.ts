import { repeated } from '../fixtures/repeated';
import { type EventStoreDouble, startEventStoreDouble } from '../servers/eventstoredb/double';
import type { Ask } from './asking';
import { startTestPlatform, type TestPlatform } from './harness';
import { race, races } from './races';

/** On a server that decides before it shows. 500 pairs each, and at two API processes: `npm run test:servers`. */
describe('of two who ask at once for what only one may get, on EventStoreDB', () => {
  let server: EventStoreDouble;
  let platform: TestPlatform;
  beforeAll(async () => {
    server = await startEventStoreDouble();
    platform = await startTestPlatform({ environment: { EVENTSTORE_URL: server.url } });
  });
  afterAll(async () => {
    await platform.stop();
    await server.stop();
  });

  it.each(races)('one gets it: $name', async (given) => {
    const ask: Ask = ({ path, ...call }) => platform.call(path, call);
    await race(given, [ask, ask], repeated(4, 20));
  });
});
