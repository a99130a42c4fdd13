import { beforeWork } from './command-steps';
import { AccessDenied, DomainError, Unavailable } from './errors';

/** What comes out of a step before all work that fails so. */
const failure = (error: Error): Promise<unknown> =>
  beforeWork(() => Promise.reject(error)).catch((thrown: unknown) => thrown);

describe('a step before all work', () => {
  it('that a store did not confirm leaves nothing done', async () => {
    const unknown = new Unavailable('vault', 'it does not answer', 'unknown');
    const thrown = await failure(unknown);
    expect(thrown).toMatchObject({
      dependency: 'vault',
      reason: 'it does not answer',
      outcome: 'none',
      cause: unknown,
    });
  });

  it.each([
    ['whose store rejects this process, says that', new AccessDenied('vault', 'it takes no such user', 'unknown')],
    ['that says itself that nothing was done, is passed on', new Unavailable('vault', 'it is away', 'none')],
    ['that rejects, is passed on', new DomainError('not_found')],
    ['that fails by a fault of its own, is passed on', new TypeError('x is undefined')],
  ])('%s, and its error stays as it is', async (_, error) => {
    expect(await failure(error)).toBe(error);
  });

  it('answers what it did', async () => {
    expect(await beforeWork(() => Promise.resolve('taken'))).toBe('taken');
  });
});
