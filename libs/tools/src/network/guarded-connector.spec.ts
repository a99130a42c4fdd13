import type { LookupAddress, LookupOptions } from 'node:dns';
import net, { type LookupFunction, type TcpNetConnectOpts } from 'node:net';
import { startToolApi } from '../../../../test/fixtures/tool-api';
import { guardedConnector, publicLookup } from './guarded-connector';

const PUBLIC: LookupAddress[] = [
  { address: '93.184.216.34', family: 4 },
  { address: '2606:2800:220:1::1', family: 6 },
];
const PRIVATE: LookupAddress[] = [{ address: '127.0.0.1', family: 4 }];

/** Looks a name up whose server answers these in turn. */
const lookedUp = (options: LookupOptions, ...answers: LookupAddress[][]) => {
  let times = 0;
  const lookup = publicLookup(async () => answers[times++] ?? []);
  return new Promise<{ readonly error: Error | null; readonly answer: unknown; readonly times: number }>((resolve) =>
    lookup('api.example.com', options, (error, answer) => resolve({ error, answer, times })),
  );
};

describe('what a socket is told of a name', () => {
  it('is what was checked: a name server that answers otherwise the second time is not asked again', async () => {
    expect(await lookedUp({ all: true }, PUBLIC, PRIVATE)).toEqual({ error: null, answer: PUBLIC, times: 1 });
    expect(await lookedUp({}, PUBLIC, PRIVATE)).toEqual({ error: null, answer: '93.184.216.34', times: 1 });
  });

  it.each([[PRIVATE], [[...PUBLIC, ...PRIVATE]], [[]]])(
    'is nothing if one of its addresses is not public: %j',
    async (addresses) =>
      expect(await lookedUp({ all: true }, addresses, PUBLIC)).toMatchObject({
        error: { name: 'AddressNotAllowed' },
        times: 1,
      }),
  );
});

describe('a connection', () => {
  const open = net.connect;
  afterEach(() => jest.restoreAllMocks());

  /** Connects to a name whose server answers public addresses, then private ones. The socket does as `dial` has it. */
  const connected = (dial: (options: TcpNetConnectOpts) => net.Socket) => {
    // Of the overloads of `net.connect`, jest knows the last alone; the connector calls the one with options.
    jest.spyOn(net, 'connect').mockImplementation(dial as never);
    let times = 0;
    const connect = guardedConnector({
      privateHosts: [],
      timeoutMs: 5_000,
      resolve: async () => [PUBLIC, PRIVATE][times++] ?? PRIVATE,
    });
    const options = { hostname: 'api.example.com', host: 'api.example.com', protocol: 'http:', port: '80' };
    return new Promise<{ readonly error: Error | null; readonly times: number }>((resolve) =>
      connect(options, (...[error, socket]) => {
        socket?.destroy();
        resolve({ error, times });
      }),
    );
  };

  it('asks once where it goes to, and is given what was checked', async () => {
    const given: unknown[] = [];
    const { error, times } = await connected(({ host = '', lookup }) => {
      const socket = new net.Socket();
      (lookup as LookupFunction)(host, { all: true }, (failure, addresses) => {
        given.push(failure, addresses);
        socket.destroy(new Error('nobody is called'));
      });
      return socket;
    });
    expect([given, times, error?.message]).toEqual([[null, PUBLIC], 1, 'nobody is called']);
  });

  it('is cut before a word is said where it stands with another address than was checked', async () => {
    const api = await startToolApi();
    const { error } = await connected(() => open({ host: '127.0.0.1', port: Number(api.host.split(':')[1]) }));
    await api.stop();
    expect(error?.name).toBe('AddressNotAllowed');
    expect(api.asked).toEqual([]);
  });
});
