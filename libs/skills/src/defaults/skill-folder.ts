import { createHash } from 'node:crypto';
import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { InvalidConfig } from '@app/kernel';
import {
  areDistinct,
  MAX_FILE_BYTES,
  mediaTypeOf,
  type ParsedSkill,
  referencePathFault,
  SkillFailure,
  type SkillFile,
} from '../archive';
import { isArchive } from '../archive/nested';
import { isJunk } from '../archive/paths';
import { readSkillText } from '../archive/skill-text';
import type { VersionLimits } from '../skill/skill.decider';

/** What is wrong with the folder, with the path of the file in it. */
const wrong = (message: string): never => {
  throw new InvalidConfig(`DEFAULT_SKILLS_DIR: ${message}`);
};

/**
 * Reads the Skills of an operator's folder, each in a folder of its own with `SKILL.md` and reference files, in the order of their
 * names. Other files beside those folders are left alone. Throws `InvalidConfig`, which names the file and what to do.
 */
export const readSkillFolder = (folder: string, limits: VersionLimits): readonly ParsedSkill[] => {
  const entries = entriesOf(folder);
  for (const entry of entries) if (entry.isSymbolicLink()) assertNoSkillBehind(folder, entry);
  const skills = entries.filter((entry) => entry.isDirectory()).map(({ name }) => skillIn(folder, name, limits));
  for (const [index, { slug, path }] of skills.entries()) {
    const other = skills.slice(0, index).find((skill) => skill.slug === slug);
    if (other !== undefined) wrong(`${other.path} and ${path} are both called ${slug}. Rename one.`);
  }
  return skills;
};

/** A Skill behind a link would be left out unseen. */
const assertNoSkillBehind = (folder: string, { name }: Dirent): void => {
  const file = join(folder, name, 'SKILL.md');
  const isSkill = reading(name, () => statSync(file, { throwIfNoEntry: false })) !== undefined;
  if (isSkill) wrong(`${name} is a link to a folder. Put a copy in its place.`);
};

const entriesOf = (folder: string): readonly Dirent[] => {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    return wrong(
      `${folder} cannot be read (${String((error as NodeJS.ErrnoException).code)}). Name a folder of Skills.`,
    );
  }
};

/** Does what reads a file or a folder, and says of it if it cannot be read. */
const reading = <T>(path: string, read: () => T): T => {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return wrong(`${path} cannot be read (${code}).`);
  }
};

const skillIn = (root: string, folder: string, limits: VersionLimits): ParsedSkill => {
  const path = `${folder}/SKILL.md`;
  const paths = reading(folder, () => filesBelow(join(root, folder))).filter(
    (file) => file !== 'SKILL.md' && !isJunk(file),
  );
  if (!areDistinct(paths)) wrong(`${folder} has files whose paths differ in case or accents alone. Rename one.`);
  if (paths.length > limits.files) wrong(`${folder} has more than ${limits.files} reference files. Take some out.`);
  let size = 0;
  const bytesOf = (file: string): Buffer =>
    reading(`${folder}/${file}`, () => {
      const absolute = join(root, folder, file);
      const { size: bytes } = statSync(absolute);
      size += bytes;
      if (bytes > MAX_FILE_BYTES) wrong(`${folder}/${file} has more than ${MAX_FILE_BYTES} bytes. Take it out.`);
      if (size > limits.bytes) wrong(`${folder} has more than ${limits.bytes} bytes. Take some files out.`);
      return readFileSync(absolute);
    });
  const text = skillText(bytesOf('SKILL.md'), path);
  return { ...text, files: paths.map((file) => fileOf(file, bytesOf, folder)) };
};

const skillText = (bytes: Buffer, path: string): ReturnType<typeof readSkillText> => {
  try {
    return readSkillText(bytes, path);
  } catch (error) {
    if (error instanceof SkillFailure) return wrong(error.message);
    throw error;
  }
};

/** Paths of the files below a folder, with `/`. What is neither a file nor a folder would be left out unseen. */
const filesBelow = (folder: string): readonly string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => {
      const path = relative(folder, join(entry.parentPath, entry.name));
      if (!entry.isFile()) wrong(`${join(folder, path)} is no regular file. Put a copy in its place.`);
      return path.split(sep).join('/');
    })
    .toSorted();

const fileOf = (path: string, bytesOf: (path: string) => Buffer, folder: string): SkillFile => {
  const fault = referencePathFault(path);
  if (fault !== undefined) wrong(`${folder}/${path} ${fault}`);
  const bytes = bytesOf(path);
  if (isArchive(path, bytes)) wrong(`${folder}/${path} is an archive. Put its files in its place.`);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { path, mediaType: mediaTypeOf(path), sizeBytes: bytes.length, sha256, bytes };
};
