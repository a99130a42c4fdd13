import type { FrontmatterBudget } from './frontmatter';
import { isNamedArchive, NESTED } from './nested';
import { isJunk, isSkillFile } from './paths';
import { fail, type SkillLimits } from './skill';
import { isWholeFolder } from './skill-text';
import type { ZippedFile } from './zip-directory';

/** A Skill of an archive, not read yet. */
export interface FoundSkill {
  readonly skillFile: ZippedFile;
  /** Its reference files by their paths in its folder, sorted. */
  readonly files: readonly { readonly path: string; readonly file: ZippedFile }[];
}

const withoutJunk = (files: readonly ZippedFile[]): readonly ZippedFile[] => {
  const kept = files.filter(({ path }) => !isJunk(path));
  const nested = kept.find(({ path }) => isNamedArchive(path));
  return nested === undefined ? kept : fail('invalid_archive', NESTED, { path: nested.path });
};

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/') + 1);

/** The one Skill of an archive: at its root, or in its one folder. Throws `SkillFailure` `invalid_archive`. */
export const oneSkill = (all: readonly ZippedFile[], limits: SkillLimits): FoundSkill => {
  const files = withoutJunk(all);
  const atRoot = files.find(({ path }) => !path.includes('/') && isSkillFile(path));
  const folders = new Set(files.map(({ path }) => path.slice(0, path.indexOf('/') + 1)));
  const [folder = ''] = folders;
  const skillFile =
    atRoot ??
    (folders.size === 1 ? files.find(({ path }) => isSkillFile(path) && folderOf(path) === folder) : undefined);
  if (skillFile === undefined) {
    const found = files.filter(({ path }) => isSkillFile(path));
    const sentence =
      found.length > 1
        ? `Several files are called SKILL.md. Send one Skill, or all with POST /api/v1/core/skills/import.`
        : 'SKILL.md must stand at the root of the archive, or in its one folder.';
    return fail('invalid_archive', sentence, { path: found[0]?.path ?? '' });
  }
  const found = skillAt(skillFile, files);
  if (found.files.length > limits.files)
    fail('too_large', `The Skill has more than ${limits.files} reference files. Take some out.`, { path: '' });
  return found;
};

/** No place has more Skills. */
const MAX_SKILLS = 1_000;

/** What an archive holds. */
export interface FoundSkills {
  /** In the order of their paths. */
  readonly skills: readonly FoundSkill[];
  /** Paths of files that belong to no Skill, sorted. What file managers leave behind is not among them. */
  readonly ignored: readonly string[];
}

/** Every Skill of an archive, of whose frontmatters some are read against `budget`. Throws `SkillFailure` `invalid_archive` or `too_large`. A file belongs to the nearest `SKILL.md` above it, or to none; below one that has its folder alone, another `SKILL.md` is such a file. */
export const everySkill = (all: readonly ZippedFile[], budget: FrontmatterBudget): FoundSkills => {
  const files = withoutJunk(all);
  const called = files.filter(({ path }) => isSkillFile(path));
  if (called.length > MAX_SKILLS)
    fail('too_large', `The archive has more than ${MAX_SKILLS} SKILL.md. Send some in another.`, { path: '' });
  const skillFiles = skillFilesOf(called, budget);
  if (skillFiles.length === 0) fail('invalid_archive', 'No file of the archive is called SKILL.md.', { path: '' });
  const ignored: string[] = [];
  const byFolder = new Map<string, ZippedFile[]>(skillFiles.map(({ path }) => [folderOf(path), []]));
  const isSkill = new Set(skillFiles);
  const nearest = nearestIn(byFolder);
  for (const file of files) {
    if (isSkill.has(file)) continue;
    const own = nearest(folderOf(file.path));
    if (own === undefined) ignored.push(file.path);
    else own.push(file);
  }
  const skills = skillFiles.map((skillFile) => skillAt(skillFile, byFolder.get(folderOf(skillFile.path)) ?? []));
  return { skills, ignored: ignored.toSorted() };
};

/** What is kept of the nearest folder above another, or of itself. Each folder is looked for once: thousands of files may be in one that is deep. */
const nearestIn = <T>(byFolder: ReadonlyMap<string, T>): ((folder: string) => T | undefined) => {
  const found = new Map<string, T | undefined>(byFolder);
  return (folder) => {
    const asked: string[] = [];
    let at = folder;
    while (at !== '' && !found.has(at)) {
      asked.push(at);
      at = folderOf(at.slice(0, -1));
    }
    const kept = found.get(at);
    for (const each of asked) found.set(each, kept);
    return kept;
  };
};

/** Those that are Skills of their own, in the order of their paths. */
const skillFilesOf = (all: readonly ZippedFile[], budget: FrontmatterBudget): readonly ZippedFile[] => {
  const outerFirst = all
    .map((file) => ({ file, folder: folderOf(file.path) }))
    .toSorted((a, b) => (a.folder < b.folder ? -1 : 1));
  let whole: string | undefined;
  const own = outerFirst.filter(({ file, folder }, at) => {
    if (whole !== undefined && folder.startsWith(whole)) return false;
    const hasOthers = outerFirst[at + 1]?.folder.startsWith(folder) === true;
    whole = hasOthers && isWholeFolder(file.read(), file.path, budget) ? folder : undefined;
    return true;
  });
  return own.map(({ file }) => file).toSorted((a, b) => (a.path < b.path ? -1 : 1));
};

const skillAt = (skillFile: ZippedFile, files: readonly ZippedFile[]): FoundSkill => {
  const folder = folderOf(skillFile.path);
  return {
    skillFile,
    files: files
      .filter((file) => file !== skillFile)
      .map((file) => ({ path: file.path.slice(folder.length), file }))
      .toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  };
};
