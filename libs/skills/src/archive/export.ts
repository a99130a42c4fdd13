import { promisify } from 'node:util';
import { deflateRaw } from 'node:zlib';
import { ZipFile } from 'yazl';
import { bytesOf } from '@app/extraction/threads';
import { normalisedInstructions } from './content-hash';
import { conforming } from './format';
import { isSkillFile } from './paths';
import type { ParsedSkill, SkillFile } from './skill';
import { slugOf } from './slug';

/** What is exported of a Skill. */
export interface ExportedSkill extends Pick<
  ParsedSkill,
  'name' | 'slug' | 'description' | 'instructions' | 'frontmatter'
> {
  readonly files: readonly Pick<SkillFile, 'path' | 'bytes'>[];
}

/** The earliest a zip can say, whatever the time zone: equal Skills have equal archives. */
const OPTIONS = { mtime: new Date(1980, 0, 1), mode: 0o100644, forceDosTimestamp: true } as const;
/** A file that deflates further is stored as it is, since readers take it for a bomb. */
const MAX_RATIO = 50;
const deflated = promisify(deflateRaw);

/**
 * A Skill as a zip in the Agent Skills format: `slug/SKILL.md` and its files. Its frontmatter is one that the format's reference
 * validator accepts; a free name, and keys that the format does not know, stand in `metadata`, where reading finds them. Equal
 * Skills give equal bytes.
 */
export const skillArchive = async (skill: ExportedSkill): Promise<Buffer> => {
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from(skillText(skill)), `${skill.slug}/SKILL.md`, OPTIONS);
  for (const { path, bytes } of skill.files.toSorted((a, b) => (a.path < b.path ? -1 : 1)))
    zip.addBuffer(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), `${skill.slug}/${path}`, {
      ...OPTIONS,
      compress: (await deflated(bytes, { level: 1 })).length * MAX_RATIO > bytes.length,
    });
  zip.end();
  return bytesOf(zip.outputStream);
};

/** The `SKILL.md` of a Skill. */
export const skillText = ({ name, slug, description, instructions, frontmatter, files }: ExportedSkill): string => {
  const keys = conforming({
    ...(name === slug ? {} : { name }),
    ...(slugOf(name) === slug ? {} : { slug }),
    ...(files.some(({ path }) => isSkillFile(path)) ? { isWhole: true } : {}),
    frontmatter,
  });
  const lines = Object.entries({ name: slug, description, ...sorted(keys) }).flatMap(([key, value]) =>
    yamlOf(key, value),
  );
  return `---\n${lines.join('\n')}\n---\n\n${normalisedInstructions(instructions)}\n`;
};

const sorted = <T>(values: Readonly<Record<string, T>>): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1)));

/** In block style with quoted texts, the part of YAML that every reader of the format takes. */
const yamlOf = (key: string, value: unknown): readonly string[] => {
  if (typeof value === 'string') return [`${key}: ${quoted(value)}`];
  if (Array.isArray(value)) return [`${key}:`, ...(value as string[]).map((item) => `  - ${quoted(item)}`)];
  const entries = Object.entries(sorted(value as Readonly<Record<string, string>>));
  return [`${key}:`, ...entries.map(([name, text]) => `  ${quoted(name)}: ${quoted(text)}`)];
};

/** As JSON, which is YAML. Some readers end the frontmatter at any three hyphens; what YAML does not print is escaped. */
const quoted = (text: string): string =>
  JSON.stringify(text)
    .replace(/-(?=--)/g, '\\x2d')
    .replace(
      /[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
