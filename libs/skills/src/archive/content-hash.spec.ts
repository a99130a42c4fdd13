import { contentHashOf } from './content-hash';

const skill = {
  description: 'Checks invoices.',
  instructions: 'Look at the sum.\n\nThen sign.',
  frontmatter: { license: 'MIT', metadata: { a: '1', b: '2' } },
  files: [
    { path: 'a.md', sha256: 'aa' },
    { path: 'b.md', sha256: 'bb' },
  ],
};

describe('contentHashOf', () => {
  it.each([
    [
      'line ends and blank lines around the instructions',
      { instructions: '\r\n \r\nLook at the sum.\r\n\r\nThen sign.\n\n' },
    ],
    ['the order of keys', { frontmatter: { metadata: { b: '2', a: '1' }, license: 'MIT' } }],
    ['the order of files', { files: skill.files.toReversed() }],
  ])('does not see %s', (_, other) => expect(contentHashOf({ ...skill, ...other })).toBe(contentHashOf(skill)));

  it.each([
    ['the description', { description: 'Checks.' }],
    ['the indent of the instructions', { instructions: `  ${skill.instructions}` }],
    ['a key', { frontmatter: {} }],
    ['a path', { files: [{ path: 'c.md', sha256: 'aa' }, ...skill.files.slice(1)] }],
    ['a byte of a file', { files: [{ path: 'a.md', sha256: 'ab' }, ...skill.files.slice(1)] }],
  ])('sees %s', (_, other) => expect(contentHashOf({ ...skill, ...other })).not.toBe(contentHashOf(skill)));
});
