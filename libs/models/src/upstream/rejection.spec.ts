import type { Exchange } from './exchange';
import { rejectionOf } from './rejection';

const HOUR_LATER = 'Fri, 20 Nov 2026 13:00:00 GMT';
const NOON = 'Fri, 20 Nov 2026 12:00:00 GMT';

/** Of an exchange only what a rejection reads is there. */
const rejected = (given: Pick<Exchange, 'status' | 'headers' | 'whole'>) =>
  rejectionOf(given as Exchange, 'embeddings');

const waitOf = async (headers: Exchange['headers']): Promise<number | undefined> =>
  (await rejected({ status: 429, headers, whole: async () => Buffer.alloc(0) })).facts.retryAfterSeconds;

describe('how long a provider wants to be left alone', () => {
  it.each([
    ['0', 0],
    ['7', 7],
    ['999999', 999_999],
    ['1000000', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['', undefined],
  ])('is %j in seconds', async (header, seconds) => expect(await waitOf({ 'retry-after': header })).toBe(seconds));

  it.each([
    [HOUR_LATER, 3_600],
    ['Friday, 20-Nov-26 13:00:00 GMT', 3_600],
    ['Fri Nov 20 13:00:00 2026', 3_600],
    [NOON, 0],
    ['Fri, 20 Nov 2026 11:59:59 GMT', 0],
    ['Wed, 02 Dec 2026 01:46:39 GMT', 999_999],
    ['Wed, 02 Dec 2026 01:46:40 GMT', undefined],
    ['Fri, 99 Nov 2026 13:00:00 GMT', undefined],
    ['Fri, 20 Nov 2026 13:00:00', undefined],
    ['2026-11-20T13:00:00Z', undefined],
  ])('is the time until %j by the clock of the provider', async (date, seconds) =>
    expect(await waitOf({ 'retry-after': date, date: NOON })).toBe(seconds),
  );

  it('is the time by our clock where the provider does not tell its own', async () => {
    jest.useFakeTimers({ now: Date.parse(NOON) + 500 });
    try {
      for (const date of [undefined, 'noon'])
        expect(await waitOf({ 'retry-after': HOUR_LATER, ...(date === undefined ? {} : { date }) })).toBe(3_600);
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('a rejection', () => {
  const rejectedWith = async (body: unknown) => {
    const whole = async () => Buffer.from(JSON.stringify(body));
    const { kind, facts } = await rejected({ status: 400, headers: {}, whole });
    return [kind, facts];
  };

  it.each<[string, unknown]>([
    ['Gemini', [{ error: { code: 400, message: 'API key not valid. Please pass a valid API key.' } }]],
    ['Gemini, later', [{ error: { code: 400, message: 'API key expired. Please renew the API key.' } }]],
    ['xAI', { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: xa***.' }],
    ['a gateway', { error: { code: 'invalid_api_key', message: 'No.' } }],
  ])('of our key is no word about the request: %s', async (_, body) =>
    expect(await rejectedWith(body)).toEqual(['broken', { status: 400 }]),
  );

  it.each<[string, unknown, object]>([
    [
      'names a field',
      { error: { message: 'Invalid API key field', param: 'metadata.key' } },
      { param: 'metadata.key' },
    ],
    ['speaks of other things', { error: { message: 'Your text about an API key is too rude.' } }, {}],
    [
      'is words alone',
      { error: "This model's maximum context length is 4096 tokens." },
      { code: 'context_length_exceeded', param: 'input' },
    ],
    ['is nothing', null, {}],
    ['is an empty list', [], {}],
  ])('is about the request where it %s', async (_, body, facts) =>
    expect(await rejectedWith(body)).toEqual(['rejected', { status: 400, ...facts }]),
  );
});
