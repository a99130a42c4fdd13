import { type Link, retry } from './retry';
import { ServerFault } from './server-errors';

/** What becomes of a wait, and after how many milliseconds. */
interface Ended {
  readonly fault: string;
  readonly after: number;
}

describe('whoever waits for the server', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  const link = (lostAt: number | undefined, trouble?: ServerFault): { -readonly [Key in keyof Link]: Link[Key] } => ({
    lostAt,
    trouble,
  });
  const never = (): Promise<never> => new Promise(() => undefined);
  const unreachable = async (): Promise<never> => {
    throw new ServerFault('unreachable');
  };
  const silentFor = async (milliseconds: number): Promise<never> => {
    await new Promise((resolve) => setTimeout(resolve, milliseconds));
    throw new ServerFault('late');
  };
  /** Waits, while something happens on the way. */
  const ended = async (
    wait: () => Promise<unknown>,
    happening: () => Promise<void> = async () => undefined,
  ): Promise<Ended> => {
    const started = performance.now();
    const outcome = wait().then(
      () => ({ fault: 'none', after: performance.now() - started }),
      (error: ServerFault) => ({ fault: error.fault, after: performance.now() - started }),
    );
    await happening();
    await jest.advanceTimersByTimeAsync(30_000);
    return outcome;
  };

  it.each<[string, () => Promise<never>]>([
    ['is rejected', unreachable],
    ['does not come about', never],
  ])('is told within 2 s when a connection %s', async (_name, attempt) => {
    const { fault, after } = await ended(() => retry(link(-Infinity), attempt));

    expect(fault).toBe('unreachable');
    expect(after).toBeGreaterThan(1_000);
    expect(after).toBeLessThan(2_000);
  });

  it('is told what keeps a connection from coming about, once that is known', async () => {
    const gone = link(-Infinity);
    const told = await ended(
      () => retry(gone, unreachable),
      async () => {
        gone.trouble = new ServerFault('untrusted');
      },
    );

    expect(told.fault).toBe('untrusted');
  });

  it('waits for 9.5 s over a connection that lives, and asks once', async () => {
    let asked = 0;
    const told = await ended(() => retry(link(undefined), (milliseconds) => ((asked += 1), silentFor(milliseconds))));

    expect(told).toEqual({ fault: 'late', after: 9_500 });
    expect(asked).toBe(1);
  });

  it('is told 1.9 s after a connection was lost, and not before', async () => {
    const lost = link(undefined);
    const attempt = async (): Promise<never> => {
      if (lost.lostAt !== undefined) return unreachable();
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      throw new ServerFault('broken');
    };
    const { after } = await ended(
      () => retry(lost, attempt),
      async () => {
        await jest.advanceTimersByTimeAsync(2_999);
        lost.lostAt = performance.now();
      },
    );

    expect(after).toBeGreaterThan(4_000);
    expect(after).toBeLessThan(4_900);
  });

  it('waits on when a connection comes about in time', async () => {
    const found = link(-Infinity);
    const told = await ended(
      () => retry(found, silentFor),
      async () => {
        await jest.advanceTimersByTimeAsync(1_000);
        found.lostAt = undefined;
      },
    );

    expect(told).toEqual({ fault: 'late', after: 9_500 });
  });

  it('is told at once what does not go by', async () => {
    const denied = async (): Promise<never> => {
      throw new ServerFault('denied');
    };

    expect(await ended(() => retry(link(undefined), denied))).toEqual({ fault: 'denied', after: 0 });
  });
});
