import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { MAX_FILE_BYTES } from '../archive';
import { readSkillFolder } from './skill-folder';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'skill-folder-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};
const skill = (name: string) => `---\nname: ${name}\ndescription: Use it.\n---\n\nDo it.\n`;
/** A path whose name is no UTF-8: Node lists it, and finds nothing under what it lists. */
const LATIN_1 = (path: string) => Buffer.from(join(root, path), 'latin1');
const read = (limits = { files: 2, bytes: 1_000 }) => readSkillFolder(root, limits);

it('reads each folder with its files, and leaves the rest alone', () => {
  write('README.md', 'Our Skills.');
  write('travel/SKILL.md', skill('travel'));
  write('refunds/SKILL.md', skill('refunds'));
  write('refunds/references/limits.md', 'At most 500.');
  write('refunds/.DS_Store', 'x');
  symlinkSync(tmpdir(), join(root, 'elsewhere'));
  symlinkSync(join(root, 'none'), join(root, 'nowhere'));
  expect(read()).toMatchObject([
    { slug: 'refunds', instructions: 'Do it.', files: [{ path: 'references/limits.md', mediaType: 'text/markdown' }] },
    { slug: 'travel', files: [] },
  ]);
});

it.each([
  ['no SKILL.md', () => write('a/notes.md', 'x'), 'a/SKILL.md cannot be read (ENOENT).'],
  ['a wrong frontmatter', () => write('a/SKILL.md', 'Do it.'), 'a/SKILL.md'],
  [
    'one name twice',
    () => ['a', 'b'].forEach((each) => write(`${each}/SKILL.md`, skill('same'))),
    'a/SKILL.md and b/SKILL.md are both called same.',
  ],
  [
    'too many files',
    () => ['SKILL.md', '1', '2', '3'].forEach((each) => write(`a/${each}`, skill('a'))),
    'a has more than 2 reference files.',
  ],
  [
    'too many bytes',
    () => [skill('a'), 'x'.repeat(1_000)].forEach((text, index) => write(index === 0 ? 'a/SKILL.md' : 'a/x', text)),
    'a has more than 1000 bytes.',
  ],
  [
    'a path that no archive may have',
    () => ['a/SKILL.md', `a/${'x'.repeat(150)}/${'y'.repeat(150)}`].forEach((path) => write(path, skill('a'))),
    'a/xxx',
  ],
  [
    'an archive',
    () => ['a/SKILL.md', 'a/x.txt'].forEach((path) => write(path, path === 'a/x.txt' ? 'PK\x03\x04' : skill('a'))),
    'a/x.txt is an archive.',
  ],
  [
    'a link',
    () => {
      write('a/SKILL.md', skill('a'));
      symlinkSync('/etc/hostname', join(root, 'a', 'host'));
    },
    'is no regular file.',
  ],
  [
    'a link to a folder of a Skill',
    () => {
      write('a/SKILL.md', skill('a'));
      symlinkSync(join(root, 'a'), join(root, 'b'));
    },
    'b is a link to a folder.',
  ],
  [
    'two files that are one on other systems',
    () => ['SKILL.md', 'tables/A.csv', 'Tables/a.csv'].forEach((path) => write(`a/${path}`, skill('a'))),
    'a has files whose paths differ in case or accents alone.',
  ],
  ['a folder that cannot be read', () => mkdirSync(LATIN_1('fran\u00e7ais')), 'fran\ufffdais cannot be read (ENOENT).'],
  [
    'a file that cannot be read',
    () => {
      write('a/SKILL.md', skill('a'));
      writeFileSync(LATIN_1('a/fran\u00e7ais.md'), 'x');
    },
    'a/fran\ufffdais.md cannot be read (ENOENT).',
  ],
] as const)('says what is wrong with a folder that has %s', (_, make, message) => {
  make();
  expect(() => read()).toThrow(
    expect.objectContaining({ name: 'InvalidConfig', message: expect.stringContaining(message) }),
  );
  expect(() => read()).toThrow('DEFAULT_SKILLS_DIR: ');
});

it('says which file is larger than any may be, however much all may have', () => {
  ['a/SKILL.md', 'a/large'].forEach((path) => write(path, skill('a')));
  truncateSync(join(root, 'a', 'large'), MAX_FILE_BYTES + 1);
  expect(() => read({ files: 2, bytes: 2 * MAX_FILE_BYTES })).toThrow(`a/large has more than ${MAX_FILE_BYTES} bytes.`);
});

it('says that there is no folder', () => {
  expect(() => readSkillFolder(join(root, 'none'), { files: 1, bytes: 1 })).toThrow(
    'cannot be read (ENOENT). Name a folder of Skills.',
  );
});
