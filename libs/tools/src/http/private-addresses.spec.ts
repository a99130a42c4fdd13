import type { LookupAddress } from 'node:dns';
import { withToolApi } from '../../../../test/fixtures/tool-calls';

const { result, running } = withToolApi();

describe('an address that is not public', () => {
  const resolve = (...answers: string[][]) => {
    let times = 0;
    return async (): Promise<LookupAddress[]> => {
      const found = answers[Math.min(times, answers.length - 1)] as string[];
      times += 1;
      return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    };
  };
  const port = () => running().host.split(':')[1];
  const rejection = 'The address of this API is not public, and the operator has not allowed it.';

  it.each([
    '127.0.0.1',
    '127.1',
    '0',
    '0x7f000001',
    '2130706433',
    '0177.0.0.1',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[fc00::1]',
    '[fe80::1]',
    '169.254.169.254',
    '100.64.0.1',
    '10.0.0.1',
    '192.168.0.1',
    '224.0.0.1',
    '255.255.255.255',
  ])('is not connected to when it stands in the base URL: %s', async (name) => {
    const { error } = await result({ baseUrl: `http://${name}:${port()}` }, { privateHosts: [] });
    expect(error).toBe(rejection);
    expect(running().asked).toEqual([]);
  });

  it.each([
    [['127.0.0.1']],
    [['::1']],
    [['::ffff:127.0.0.1']],
    [['93.184.216.34', '127.0.0.1']],
    [['169.254.169.254']],
    [['fd00:ec2::254']],
    [['64:ff9b::a9fe:a9fe']],
    [['100.100.100.200']],
    [['0.0.0.0']],
  ])('is not connected to when a name stands for it: %j', async (addresses) => {
    const { error } = await result(
      { baseUrl: `http://api.example.com:${port()}` },
      { privateHosts: [], resolve: resolve(addresses) },
    );
    expect(error).toBe(rejection);
    expect(running().asked).toEqual([]);
  });

  it('is allowed by host and port, and no other port of it', async () => {
    expect((await result()).status).toBe(200);
    expect((await result({}, { privateHosts: ['127.0.0.1:1'] })).error).toBe(rejection);
    expect(
      (await result({ baseUrl: `http://localhost:${port()}` }, { privateHosts: [`LOCALHOST:${port()}`] })).status,
    ).toBe(200);
  });

  it('is told as a name that is not found', async () => {
    const missing = () => Promise.reject(new Error('ENOTFOUND db.internal'));
    const { error } = await result({ baseUrl: 'http://api.example.com' }, { privateHosts: [], resolve: missing });
    expect(error).toBe('The API could not be reached, or its answer broke off.');
  });
});
