import type { Connection } from './connection';
import { LogPages, SharedPages } from './log-pages';
import { Pulse } from './pulse';
import { ServerFault } from './server-errors';
import { NOTHING } from './server-reader';
import type { ReadCall } from './transport';

/** A server that takes reads and says nothing. */
const silentServer = () => {
  const reads = { begun: 0, open: 0 };
  // Of a call only what a read uses is there: to listen, and to cancel it.
  const call = { on: () => call, cancel: () => void (reads.open -= 1) } as unknown as ReadCall;
  const read = async (_request: unknown, attach: (call: ReadCall) => void): Promise<void> => {
    reads.begun += 1;
    reads.open += 1;
    attach(call);
  };
  // Of a connection too: `read`, and the pulse that tells whether others are answered. The class has private members, which no object here can have.
  return { reads, connection: { read, pulse: new Pulse() } as unknown as Connection };
};

describe('a page of the whole log', () => {
  afterEach(() => jest.useRealTimers());

  it('is not read on where the removals cannot be learnt', async () => {
    jest.useFakeTimers();
    const { reads, connection } = silentServer();
    const pages = new LogPages(connection, async () => Promise.reject(new ServerFault('late')));
    await expect(pages.page('forwards', null, 10)).rejects.toMatchObject({ fault: 'late' });
    expect(reads).toEqual({ begun: 1, open: 0 });
    await jest.advanceTimersByTimeAsync(60_000);
    expect(reads).toEqual({ begun: 1, open: 0 });
  });

  it('that others asked for shows the end of the log to none who came later: more may have been appended', async () => {
    const pages = new SharedPages({ page: async () => NOTHING }, async () => undefined);
    const asked = [pages.page('forwards', null, 10), pages.page('forwards', null, 10)];
    expect((await Promise.all(asked)).map(({ isWhole }) => isWhole)).toEqual([true, false]);
  });
});
