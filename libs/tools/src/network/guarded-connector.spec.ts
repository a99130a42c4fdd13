import type { LookupAddress, LookupOptions } from 'node:dns';
import { publicLookup } from './guarded-connector';

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
