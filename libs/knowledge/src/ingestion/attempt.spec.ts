import { Damaged, DomainError, Unavailable } from '@app/kernel';
import { verdictOn } from './attempt';

describe('an attempt that failed', () => {
  it('is repeated for as long as a store is away, ever more seldom', () => {
    const pauses = [0, 1, 4, 5, 6, 100].map((failures) =>
      verdictOn(new Unavailable('blobs', 'the S3 server did not serve'), failures),
    );
    expect(pauses).toEqual(
      [1_000, 2_000, 16_000, 30_000, 30_000, 30_000].map((retryInMs) => ({ code: 'unavailable', retryInMs })),
    );
  });

  it('is repeated a few times where a provider fails, or what is stored is damaged', () => {
    for (const error of [new DomainError('upstream_error'), new Damaged('blobs', 'cut')]) {
      expect(verdictOn(error, 4).retryInMs).toBe(16_000);
      expect(verdictOn(error, 5).retryInMs).toBeNull();
    }
  });
});
