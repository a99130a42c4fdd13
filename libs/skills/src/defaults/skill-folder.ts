import { createHash } from 'node:crypto';
import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { InvalidConfig } from '@app/kernel';
import {
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
  const skills = entriesOf(folder)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => skillIn(folder, name, limits));
  for (const [index, { slug, path }] of skills.entries()) {
    const other = skills.slice(0, index).find((skill) => skill.slug === slug);
    if (other !== undefined) wrong(`${other.path} and ${path} are both called ${slug}. Rename one.`);
  }
  return skills;
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

const skillIn = (root: string, folder: string, limits: VersionLimits): ParsedSkill => {
  const path = `${folder}/SKILL.md`;
  const paths = filesBelow(join(root, folder)).filter((file) => file !== 'SKILL.md' && !isJunk(file));
  if (paths.length > limits.files) wrong(`${folder} has more than ${limits.files} reference files. Take some out.`);
  let size = 0;
  const sized = (file: string): string => {
    const absolute = join(root, folder, file);
    const { size: bytes } = statSync(absolute);
    size += bytes;
    if (bytes > MAX_FILE_BYTES) wrong(`${folder}/${file} has more than ${MAX_FILE_BYTES} bytes. Take it out.`);
    if (size > limits.bytes) wrong(`${folder} has more than ${limits.bytes} bytes. Take some files out.`);
    return absolute;
  };
  try {
    const text = readSkillText(readFileSync(sized('SKILL.md')), path);
    return { ...text, files: paths.map((file) => fileAt(file, sized(file), folder)) };
  } catch (error) {
    if (error instanceof SkillFailure) return wrong(error.message);
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return wrong(`${path} cannot be read (${String((error as NodeJS.ErrnoException).code)}).`);
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

const fileAt = (path: string, absolute: string, folder: string): SkillFile => {
  const fault = referencePathFault(path);
  if (fault !== undefined) wrong(`${folder}/${path} ${fault}`);
  const bytes = readFileSync(absolute);
  if (isArchive(path, bytes)) wrong(`${folder}/${path} is an archive. Put its files in its place.`);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { path, mediaType: mediaTypeOf(path), sizeBytes: bytes.length, sha256, bytes };
};
