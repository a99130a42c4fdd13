import { AccessDenied, Unavailable } from './errors';
import { retry } from './retry';

describe('a server that a start needs', () => {
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['performance'] }));
  afterEach(() => jest.useRealTimers());

  const warned: string[] = [];
  beforeEach(() => void warned.splice(0));
  /** How often it was asked, and what came of it, when it fails so in turn and then answers. */
  const started = async (...failures: readonly Error[]) => {
    let asked = 0;
    const outcome = retry(
      async () => {
        const failure = failures[(asked += 1) - 1];
        if (failure !== undefined) throw failure;
        return 'answered';
      },
      { warn: (sentence) => warned.push(sentence) },
    ).catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(60_000);
    return { asked, outcome: await outcome };
  };
  const away = new Unavailable('event log', 'the server cannot be reached');
  const denied = new AccessDenied('event log', 'the server rejects the user');

  it('is waited for while it is away', async () => {
    expect(await started(...Array.from({ length: 30 }, () => away))).toEqual({ asked: 31, outcome: 'answered' });
    expect(warned).toHaveLength(30);
    expect(warned[0]).toBe('event log is unavailable: the server cannot be reached; retrying');
  });

  it('may reject the user while it starts, and ends the start when it goes on rejecting them', async () => {
    expect(await started(away, denied, denied, denied)).toEqual({ asked: 5, outcome: 'answered' });
    expect(await started(away, away, denied, denied, denied, denied, denied, denied)).toEqual({
      asked: 7,
      outcome: denied,
    });
  });
});
