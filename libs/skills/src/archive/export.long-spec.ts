import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { complaints, REJECTED, skills } from '../../../../test/fixtures/skill-format';
import { zipFiles } from '../../../../test/fixtures/zip-files';
import { contentHashOf } from './content-hash';
import { type ExportedSkill, skillArchive, skillText } from './export';
import { isArchive } from './nested';
import { readSkill } from './read';
import { readSkillText } from './skill-text';

const skill: ExportedSkill = {
  name: 'invoice-check',
  slug: 'invoice-check',
  description: 'Checks invoices: sums, dates.',
  instructions: 'Look at the sum.',
  frontmatter: { license: 'MIT', 'allowed-tools': ['Read', 'Bash'], metadata: { author: 'A. B.', version: '1.0' } },
  files: [
    { path: 'notes/b.md', bytes: Buffer.from('B') },
    { path: 'a.md', bytes: Buffer.from('A') },
  ],
};
const hashed = ({ files, ...rest }: ExportedSkill) =>
  contentHashOf({
    ...rest,
    files: files.map(({ path, bytes }) => ({ path, sha256: createHash('sha256').update(bytes).digest('hex') })),
  });

describe('an exported Skill', () => {
  it('is a folder of its slug, with what other programs read', async () => {
    const files = zipFiles(await skillArchive(skill));
    expect(Object.keys(files)).toEqual(['invoice-check/SKILL.md', 'invoice-check/a.md', 'invoice-check/notes/b.md']);
    expect(files['invoice-check/SKILL.md']?.toString()).toBe(`---
name: "invoice-check"
description: "Checks invoices: sums, dates."
allowed-tools:
  - "Read"
  - "Bash"
license: "MIT"
metadata:
  "author": "A. B."
  "version": "1.0"
---

Look at the sum.
`);
  });

  it('has equal bytes if it is equal', async () =>
    expect(await skillArchive({ ...skill, files: skill.files.toReversed() })).toEqual(await skillArchive(skill)));

  it('is read again where its texts are as long as the API takes them, in characters that take two units of UTF-16', () => {
    const [name, description] = [`a${'\u{1f600}'.repeat(63)}`, '\u{1f600}'.repeat(1_024)];
    const longest = { ...skill, name, slug: 'a', description, instructions: '\u{1f600}'.repeat(50_000), files: [] };
    expect(readSkillText(Buffer.from(skillText(longest)), 'SKILL.md')).toMatchObject({ name, description });
    for (const tooLong of [
      { ...longest, description: `${description}.` },
      { ...longest, instructions: `${longest.instructions}.` },
    ])
      expect(() => readSkillText(Buffer.from(skillText(tooLong)), 'SKILL.md')).toThrow();
  });

  it('keeps a file that deflates to next to nothing', async () => {
    const files = Array.from({ length: 3 }, (_, i) => ({ path: `${i}`, bytes: Buffer.alloc(2 * 1024 ** 2) }));
    const read = await readSkill(await skillArchive({ ...skill, files }), 'a.zip', {
      files: 500,
      bytes: 100 * 1024 ** 2,
    });
    expect(contentHashOf(read)).toBe(hashed({ ...skill, files }));
  });

  it('is accepted by the validator of the format, and has its content again when it is read', () =>
    fc.assert(
      fc.property(skills, (content) => {
        const exported = { ...content, files: [] };
        const written = skillText(exported);
        expect(complaints(written, exported.slug)).toEqual([]);
        const read = readSkillText(Buffer.from(written), 'SKILL.md');
        expect(contentHashOf({ ...read, files: [] })).toBe(hashed(exported));
        expect([read.name, read.slug]).toEqual([exported.name, exported.slug]);
        expect(skillText({ ...read, files: [] })).toBe(written);
      }),
      { numRuns: 1_000 },
    ));

  it('keeps the name of a Skill that was renamed, and takes one that was edited in the file', () => {
    const written = skillText({ ...skill, name: 'Check of bills', files: [] });
    expect(complaints(written, 'invoice-check')).toEqual([]);
    const read = (text: string) => readSkillText(Buffer.from(text), 'SKILL.md');
    expect(read(written)).toMatchObject({ name: 'Check of bills', slug: 'invoice-check', warnings: [] });
    expect(read(written).frontmatter).toEqual(skill.frontmatter);
    const edited = written.replace('name: "invoice-check"', 'name: "other"');
    expect(read(edited)).toMatchObject({ name: 'other', slug: 'other', frontmatter: skill.frontmatter });
  });

  const body = fc.uint8Array({ maxLength: 300 }).filter((bytes) => !isArchive('a.bin', bytes));

  it(
    'is the same Skill when its archive is read',
    () =>
      fc.assert(
        fc.asyncProperty(skills, fc.array(body, { maxLength: 4 }), async (content, bodies) => {
          const files = bodies.map((bytes, index) => ({ path: `${'notes/'.repeat(index % 2)}ä${index}.bin`, bytes }));
          const exported = { ...content, files };
          const read = await readSkill(await skillArchive(exported), 'a.zip', { files: 500, bytes: 1024 ** 2 });
          expect(contentHashOf(read)).toBe(hashed(exported));
        }),
        { numRuns: 5 },
      ),
    30_000,
  );

  it.each(REJECTED)('would not be accepted with %s', (_, written) => expect(complaints(written, 'a')).not.toEqual([]));
});
