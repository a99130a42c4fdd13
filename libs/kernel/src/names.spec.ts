import { hasAtMost, nameSchema, normalisedName, textSchema } from '.';
import { isName } from './names';

describe('names', () => {
  it('are trimmed', () => expect(nameSchema().parse('  Team  ')).toBe('Team'));

  it.each([
    '',
    '   ',
    'a\u0000b',
    'a\nb',
    'a\u202eb',
    'a\u{e0041}b',
    'a\ud800b',
    '\u200b\u200b',
    '\u3164',
    'x'.repeat(201),
    '\u{1f600}'.repeat(201),
  ])('reject %j', (name) => {
    expect(nameSchema().safeParse(name).success).toBe(false);
    expect(isName(name.trim(), 200)).toBe(false);
  });

  it.each(['Team', 'x'.repeat(200), '\u{1f600}'.repeat(200), 'Straße \u{1f600}'])(
    'are %j, with a schema and without',
    (name) => {
      expect(nameSchema().parse(name)).toBe(name);
      expect(isName(name, 200)).toBe(true);
    },
  );

  it.each([
    ['Team', 'TEAM'],
    ['Straße', 'STRASSE'],
    ['Team', 'Te\u200bam'],
    ['Team', 'Te\u00adam'],
    ['Team', 'Team\ufe0f'],
    ['팀', '팀\u3164'],
    ['팀', '\uffa0팀'],
    ['ﬁn', 'FIN'],
    ['a  b', 'a b'],
  ])('%j equals %j', (a, b) => expect(normalisedName(a)).toBe(normalisedName(b)));
});

test.each(['a\0b', 'a\udc00b', 'xxxxx'])('free text rejects %j', (text) =>
  expect(textSchema(4).safeParse(text).success).toBe(false),
);

test.each([
  ['', true],
  ['abc', true],
  ['\u{1f600}'.repeat(3), true],
  ['\u{1f600}ab', true],
  ['abcd', false],
  ['\u{1f600}abc', false],
  ['\u{1f600}'.repeat(4), false],
])('%j has at most 3 characters: %j, as a schema says', (text, fits) => {
  expect(hasAtMost(3, text)).toBe(fits);
  expect(textSchema(3).safeParse(text).success).toBe(fits);
});
