import { randomBytes } from 'node:crypto';
import { forgedZip } from '../fixtures/files/forged-zip';
import { hostileSkills } from '../fixtures/files/hostile-skills';
import { zipFile } from '../fixtures/files/office';
import { expectNothing, expectRefused, MOST_MS, post, withHostileSkills } from './hostile-skills-world';
import { platform } from './spaces-world';

/**
 * What is made against the readers of Skills is refused with a code, leaves nothing, and takes no time of the server itself. Here
 * one archive of each rule that reads another part of it; all of them: `test/exhaustive/skills-hostile.spec.ts`, and in the reader's
 * own process `libs/skills/src/archive/read.long-spec.ts`.
 */

withHostileSkills();

const SOME = [
  '1000:1',
  'a size that is too small',
  'a nested archive',
  'overlapping entries',
  'a zip64 entry',
  'entries modulo 65,536',
  '..',
  'a symbolic link',
  'a password',
  'another local name',
  'names equal after NFC',
  'two SKILL.md at one depth',
  'no SKILL.md',
  'half of it',
];
const some = hostileSkills.filter(([kind]) => SOME.includes(kind));

describe('an archive of a Skill', () => {
  it('is tried with each of those', () => expect(some.map(([kind]) => kind).toSorted()).toEqual(SOME.toSorted()));

  it.each(some)('is refused with %s, and leaves nothing', (...archive) => expectRefused(archive));

  it('is refused with what is wrong behind files that are stored by then, and leaves none of them', async () => {
    const { blobs } = platform.platform.host.stores;
    const group = blobs.group.bind(blobs);
    let stored = 0;
    jest.spyOn(blobs, 'group').mockImplementation(() => {
      const { put, durable } = group();
      return { put: (...given) => put(...given).finally(() => (stored += 1)), durable };
    });
    const sound = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`${index}.md`, randomBytes(20_000).toString('hex')]),
    );
    const skill = { 'SKILL.md': '---\nname: a\ndescription: d\n---\nDo it.\n' };
    const zip = zipFile({ ...skill, ...sound, 'z.md': zipFile({ 'a.md': 'x' }) });
    const { status, body } = await post('', zip, 'a.zip');
    expect([status, body.code]).toEqual([400, 'invalid_archive']);
    expect(stored).toBe(60);
    jest.restoreAllMocks();
    await expectNothing();
  });

  it('is refused with more entries than it may have', async () => {
    const zip = forgedZip(Array.from({ length: 60_000 }, (_, index) => ({ name: `${index}` })));
    for (const path of ['', '/import']) {
      const { status, body } = await post(path, zip, 'a.zip');
      expect([status, body.code]).toEqual([413, 'too_large']);
    }
    await expectNothing();
  });
});

describe('the frontmatter of a Skill', () => {
  const skill = (more: string) => `---\nname: a\n${more}\n---\nDo it.\n`;
  it.each([
    ['an engine', '---js\nname: a\n---\nx', 1],
    ['a tag', skill('description: !!js/function "x"'), 3],
    ['an alias bomb', skill('a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\ndescription: d'), 3],
    ['a merge bomb', skill('description: d\n<<: [{a: 1}, {b: 1}]'), 4],
    ['a doubled key', skill('description: d\nlicense: MIT\nlicense: MIT'), 5],
    ['no map', '---\n- name\n---\nx', 2],
    ['a scalar of 1 MB', skill(`description: ${'x'.repeat(1_000_000)}`), 3],
    ['depth 1,000', skill(`description: d\na: ${'['.repeat(1_000)}${']'.repeat(1_000)}`), 4],
  ])('is refused with %s, which the problem names with its line', async (_, text, line) => {
    const { status, body, milliseconds } = await post('', text, 'a.md');
    expect([status, body.code]).toEqual([400, 'invalid_frontmatter']);
    expect(body.errors).toMatchObject([
      { path: 'a.md', message: expect.stringMatching(new RegExp(`^line ${line}(?:, [^:]+)?: `)) as string },
    ]);
    // The file is named once.
    expect(body.detail).toBe(`a.md: L${body.errors?.[0]?.message.slice(1)}`);
    expect(milliseconds).toBeLessThan(MOST_MS);
    await expectNothing();
  });
});
