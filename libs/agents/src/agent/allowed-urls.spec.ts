import fc from 'fast-check';
import { allowedUrls } from './allowed-urls';

/** Pieces that lists of sources are made of, and those that would end one. */
const piece = fc.oneof(
  fc.constantFrom(
    '*',
    '*.',
    'https://',
    'http://',
    'example.com',
    ':8443',
    ':*',
    "'none'",
    "'unsafe-inline'",
    ';',
    ',',
    ' ',
    '\n',
    '\r',
    '\t',
    'data:',
    '/',
    '?',
    '#',
    '@',
    '"',
    'script-src',
    '\u2028',
    '\u00a0',
    'ſ',
    'K',
  ),
  fc.string({ maxLength: 5 }),
);
const address = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));

it('whatever list is taken, a policy of it is one directive with exactly these sources', () => {
  let taken = 0;
  fc.assert(
    fc.property(fc.array(address, { maxLength: 3 }), (list) => {
      const { success, data = [] } = allowedUrls.safeParse(list);
      if (!success) return;
      taken += data.length;
      const policy = `frame-ancestors ${["'self'", ...data].join(' ')}`;
      // As a browser reads it (CSP 3, 2.2.1 and 2.3.1): policies end at commas, directives at semicolons, sources at ASCII white space.
      const directives = policy.split(',').flatMap((one) => one.split(';'));
      expect(directives).toHaveLength(1);
      expect(directives[0]?.split(/[\t\n\f\r ]+/)).toEqual(['frame-ancestors', "'self'", ...data]);
      for (const source of data) expect(source).toMatch(/^(\*|(https?:\/\/)?(\*\.)?[a-z0-9.-]+(:(\d+|\*))?)$/);
    }),
    { numRuns: 5_000 },
  );
  expect(taken).toBeGreaterThan(50);
});

it('takes no list that is long without end', () => {
  for (const list of [['a'.repeat(100_000)], Array.from({ length: 101 }, (_, index) => `a${index}.example`)])
    expect(allowedUrls.safeParse(list).success).toBe(false);
});
