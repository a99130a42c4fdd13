import { Damaged, DomainError, Unavailable } from '@app/kernel';
import { UpstreamFailure, upstreamRejection } from '@app/models';
import { verdictOn } from './attempt';
import { IngestionFailure } from './ingestion-failure';

describe('an attempt that failed', () => {
  it('is repeated for as long as a store is away, ever more seldom', () => {
    const pauses = [0, 1, 4, 5, 6, 100].map((failures) =>
      verdictOn(new Unavailable('blobs', 'the S3 server did not serve'), failures),
    );
    expect(pauses).toEqual(
      [1_000, 2_000, 16_000, 30_000, 30_000, 30_000].map((retryInMs) => ({ code: 'unavailable', retryInMs })),
    );
  });

  it.each([
    new UpstreamFailure('unreachable'),
    new UpstreamFailure('open', { retryAfterSeconds: 5 }),
    new UpstreamFailure('rate-limited', { status: 429 }),
    new UpstreamFailure('broken', { status: 500 }),
    new UpstreamFailure('broken', { status: 503 }),
  ])('is repeated for as long as a provider is away, ever more seldom: $code', (failure) => {
    const pauses = [0, 1, 4, 5, 8, 9, 100].map((failures) => verdictOn(upstreamRejection(failure), failures));
    expect(pauses).toEqual(
      [1_000, 2_000, 16_000, 32_000, 256_000, 300_000, 300_000].map((retryInMs) => ({
        code: 'upstream_error',
        retryInMs,
      })),
    );
  });

  it.each([
    ['upstream_error', new DomainError('upstream_error')],
    ['upstream_error', upstreamRejection(new UpstreamFailure('broken'))],
    ['upstream_error', upstreamRejection(new UpstreamFailure('broken', { status: 401 }))],
    ['upstream_timeout', upstreamRejection(new UpstreamFailure('timeout'))],
    ['usage_limit_exceeded', new DomainError('usage_limit_exceeded')],
    ['unavailable', new Damaged('blobs', 'cut')],
    ['internal', new Error('broken')],
  ])(
    'is repeated a few times where an answer is none, or may be billed, or what is stored is damaged: %s, %s',
    (code, error) => {
      expect(verdictOn(error, 4)).toEqual({ code, retryInMs: 16_000 });
      expect(verdictOn(error, 5)).toEqual({ code, retryInMs: null });
    },
  );

  it('is not repeated where the document itself is why', () =>
    expect(verdictOn(new IngestionFailure('encrypted'), 0)).toEqual({ code: 'encrypted', retryInMs: null }));
});
