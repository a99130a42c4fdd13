import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { Lexer, parse } from 'yaml';
import { zipFiles } from '../../../../test/fixtures/zip-files';
import { contentHashOf } from './content-hash';
import { type ExportedSkill, skillArchive, skillText } from './export';
import { isArchive } from './nested';
import { readSkill } from './read';
import { readSkillText } from './skill-text';
import { slugOf } from './slug';

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

/** What `skills-ref validate` 0.1.1 says of a `SKILL.md` in a folder: its parser (strictyaml, all values texts) and its checks. */
const complaints = (text: string, folder: string): readonly string[] => {
  const [before, head = '', ...rest] = text.split('---');
  if (before !== '' || rest.length === 0) return ['no frontmatter'];
  const tokens = [...new Lexer().lex(head)];
  if (tokens.some((token) => /^[[\]{}&*!]/.test(token))) return ['flow style, anchor, alias or tag'];
  const metadata = parse(head, { schema: 'failsafe' }) as Record<string, unknown>;
  const { name, description, compatibility } = metadata as Record<string, string | undefined>;
  const tools: unknown = metadata['allowed-tools'];
  const known = ['name', 'description', 'license', 'allowed-tools', 'metadata', 'compatibility'];
  const isText = (value: unknown) => typeof value === 'string';
  const length = (value = '') => [...value].length;
  const checks: Readonly<Record<string, boolean>> = {
    'unexpected fields': Object.keys(metadata).every((key) => known.includes(key)),
    'name length': isText(name) && length(name.trim()) >= 1 && length(name) <= 64,
    'name case': name === name?.toLowerCase(),
    'name characters': /^[\p{L}\p{Nd}]+(?:-[\p{L}\p{Nd}]+)*$/u.test(name?.normalize('NFKC') ?? ''),
    'name and folder': name?.normalize('NFKC') === folder.normalize('NFKC'),
    description: isText(description) && description.trim() !== '' && length(description) <= 1024,
    compatibility: compatibility === undefined || (isText(compatibility) && length(compatibility) <= 500),
    'allowed-tools': tools === undefined || isText(tools) || (Array.isArray(tools) && tools.every(isText)),
  };
  return Object.keys(checks).filter((check) => checks[check] === false);
};

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

  it('keeps a file that deflates to next to nothing', async () => {
    const files = Array.from({ length: 3 }, (_, i) => ({ path: `${i}`, bytes: Buffer.alloc(2 * 1024 ** 2) }));
    const read = await readSkill(await skillArchive({ ...skill, files }), 'a.zip', {
      files: 500,
      bytes: 100 * 1024 ** 2,
    });
    expect(contentHashOf(read)).toBe(hashed({ ...skill, files }));
  });

  const odd = fc
    .string({ unit: 'binary', maxLength: 40 })
    .filter((text) => text.isWellFormed() && !text.includes('\0'));
  const text = fc.oneof(
    odd,
    fc.constantFrom('---', 'a --- b', '1.0', 'true', '~', 'a: b', "'", '"', '\\', '\u2028', '\n', ' x '),
  );
  const value = fc.oneof(
    text,
    fc.constantFrom(1, 1.5, true, null, [], {}),
    fc.array(text, { maxLength: 3 }),
    fc.dictionary(fc.stringMatching(/^[\w .:-]{1,20}$/), fc.oneof(text, fc.constant(2)), { maxKeys: 3 }),
  );
  const key = fc.oneof(
    fc.constantFrom('license', 'compatibility', 'metadata', 'allowed-tools', 'version', 'a b', 'agent-platform'),
    // `JSON.parse` of Node 26 (V8 14) takes a key that is one escaped character for another such key it has seen.
    text.filter((said) => JSON.stringify(said).length === said.length + 2),
  );
  const frontmatter = fc
    .dictionary(key, value, { maxKeys: 5 })
    .filter((keys) => !['name', 'description', '__proto__'].some((name) => Object.hasOwn(keys, name)));
  const any = fc.record({
    name: fc.oneof(
      fc.constantFrom('invoice-check', 'Größe & Küche', '請求書 1'),
      fc.stringMatching(/^[a-zA-Z0-9 ]{1,64}$/),
    ),
    description: text.filter((said) => said.trim() !== '').map((said) => said.trim()),
    instructions: fc.oneof(text, fc.constant('  indented\r\n---\n')).map((said) => `${said}x`),
    frontmatter,
  });
  const named = (name: string) => ({ name: name.trim(), slug: slugOf(name) });
  const skills = any.filter(({ name }) => slugOf(name) !== undefined && name.trim() !== '');

  it('is accepted by the validator of the format, and has its content again when it is read', () =>
    fc.assert(
      fc.property(skills, ({ name, ...content }) => {
        const exported = { ...content, ...(named(name) as { name: string; slug: string }), files: [] };
        const written = skillText(exported);
        expect(complaints(written, exported.slug)).toEqual([]);
        const read = readSkillText(Buffer.from(written), 'SKILL.md');
        expect(contentHashOf({ ...read, files: [] })).toBe(hashed(exported));
        expect([read.name, read.slug]).toEqual([exported.name, exported.slug]);
        expect(skillText({ ...read, files: [] })).toBe(written);
      }),
      { numRuns: 1_000 },
    ));

  const body = fc.uint8Array({ maxLength: 300 }).filter((bytes) => !isArchive('a.bin', bytes));

  it(
    'is the same Skill when its archive is read',
    () =>
      fc.assert(
        fc.asyncProperty(skills, fc.array(body, { maxLength: 4 }), async ({ name, ...content }, bodies) => {
          const files = bodies.map((bytes, index) => ({ path: `${'notes/'.repeat(index % 2)}ä${index}.bin`, bytes }));
          const exported = { ...content, ...(named(name) as { name: string; slug: string }), files };
          const read = await readSkill(await skillArchive(exported), 'a.zip', { files: 500, bytes: 1024 ** 2 });
          expect(contentHashOf(read)).toBe(hashed(exported));
        }),
        { numRuns: 5 },
      ),
    30_000,
  );

  it.each([
    ['an unknown key', '---\nname: a\ndescription: d\nversion: "1"\n---\nx'],
    ['another folder', '---\nname: b\ndescription: d\n---\nx'],
    ['flow style', '---\nname: a\ndescription: d\nmetadata: {}\n---\nx'],
  ])('would not be accepted with %s', (_, written) => expect(complaints(written, 'a')).not.toEqual([]));
});
