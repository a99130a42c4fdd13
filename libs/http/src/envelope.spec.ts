import { DomainError, Unavailable } from '@app/kernel';
import { envelopeOf, GatewayError } from './envelope';

const brief = (error: unknown) => {
  const { status, type, param, code, headers } = envelopeOf(error);
  return { status, type, param, code, headers };
};

describe('an error of the compatible API', () => {
  it('tells clients not to repeat what a used-up limit rejects, and to wait where that helps', () => {
    const limit = { status: 429, type: 'rate_limit_error', param: null, code: 'usage_limit_exceeded' };
    expect(brief(new DomainError('usage_limit_exceeded', { retryAfterSeconds: 61 }))).toEqual({
      ...limit,
      headers: { 'x-should-retry': 'false' },
    });
    expect(brief(new DomainError('usage_limit_exceeded', { retryAfterSeconds: 60 }))).toEqual({
      ...limit,
      headers: { 'x-should-retry': 'false', 'retry-after': '60' },
    });
  });

  it.each([
    [new Unavailable('log', 'disk full'), 503, 'server_error', 'unavailable'],
    [new Error('the secret is 42'), 500, 'server_error', null],
    [new DomainError('unheard_of'), 500, 'server_error', null],
    [new DomainError('rate_limited', { retryAfterSeconds: 3 }), 429, 'rate_limit_error', 'rate_limit_exceeded'],
  ])('says no more than it should: %s', (error, status, type, code) => {
    expect(brief(error)).toMatchObject({ status, type, param: null, code });
    expect(envelopeOf(error).body).not.toMatch(/42|disk|unheard/);
  });

  it('is ASCII, whatever it says', () => {
    const { body } = new GatewayError(404, 'Größe 🙂');
    expect([/^[ -~]+$/.test(body), JSON.parse(body)]).toEqual([
      true,
      { error: { message: 'Größe 🙂', type: 'invalid_request_error', param: null, code: null } },
    ]);
  });
});
