import { slugOf, slugsFor } from './slug';

test.each([
  ['My Team', 'my-team'],
  ['  Büro & Straße  ', 'buro-strasse'],
  ['Ärzte/Éclair 7', 'arzte-eclair-7'],
  ['日本', 'space'],
  ['--', 'space'],
])('the slug of %j is %s', (name, slug) => {
  expect(slugOf(name)).toBe(slug);
});

test('slugs to try end', () =>
  expect(slugsFor('A')).toEqual(['a', 'a-2', 'a-3', 'a-4', 'a-5', 'a-6', 'a-7', 'a-8', 'a-9']));
