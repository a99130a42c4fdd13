import { hash } from 'node:crypto';
import type { Failed, Frame, ReadOrder } from './frames';
import { FrontmatterBudget } from './frontmatter';
import { everySkill, type FoundSkill, oneSkill } from './layout';
import { isArchive, NESTED } from './nested';
import { mediaTypeOf, referencePathFault } from './paths';
import { fail, SkillFailure, type SkillLimits } from './skill';
import { readSkillText, type SkillText } from './skill-text';
import { filesOfZip } from './zip-directory';

/** A frame, and the bytes that follow it. */
type Said = readonly [frame: Frame, bytes?: Buffer];

/**
 * Reads Skills in this process, which nothing ends at a limit of time or memory: for the process that does that alone. Yields each Skill before its files, and no end. Throws
 * `SkillFailure`; what was yielded before counts for nothing then. `onSound` is told how many bytes an archive inflates to, once it
 * is found sound and before anything is inflated.
 */
export async function* skillsIn(
  bytes: Buffer,
  { read: what, filename, limits }: Omit<ReadOrder, 'parent'>,
  onSound: (inflatedBytes: number) => void = () => undefined,
): AsyncGenerator<Said> {
  if (what === 'text') {
    yield [{ skill: readSkillText(bytes, filename) }];
    return;
  }
  const files = await filesOfZip(bytes, limits);
  onSound(files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0));
  if (what === 'skill') {
    const found = oneSkill(files, limits);
    yield* skillOf(found, readSkillText(found.skillFile.read(), found.skillFile.path), limits);
    return;
  }
  const budget = new FrontmatterBudget();
  const { skills, ignored } = everySkill(files, budget);
  for (const found of skills) yield* outcomeOf(found, limits, budget);
  yield [{ ignored }];
}

/** A failure as it goes between processes. */
export const failedOf = ({ code, sentence, fault }: SkillFailure): Failed => ({ code, sentence, fault });

/** A Skill that cannot be read does not keep others from being; an archive that lies of its bytes does. */
function* outcomeOf(found: FoundSkill, limits: SkillLimits, budget: FrontmatterBudget): Generator<Said> {
  const { path } = found.skillFile;
  try {
    const text = readSkillText(found.skillFile.read(), path, budget);
    checkCount(found, limits);
    yield* skillOf(found, text, limits);
  } catch (error) {
    if (!(error instanceof SkillFailure) || error.code === 'invalid_archive') throw error;
    yield [{ failedSkill: { path, ...failedOf(error) } }];
  }
}

const checkCount = ({ skillFile, files }: FoundSkill, limits: SkillLimits): void => {
  if (files.length > limits.files)
    fail('too_large', `The Skill has more than ${limits.files} reference files. Take some out.`, {
      path: skillFile.path,
    });
};

function* skillOf(found: FoundSkill, text: SkillText, limits: SkillLimits): Generator<Said> {
  checkCount(found, limits);
  for (const { path, file } of found.files) {
    const fault = referencePathFault(path);
    if (fault !== undefined) fail('invalid_archive', `This file ${fault}`, { path: file.path });
  }
  yield [{ skill: text }];
  for (const { path, file } of found.files) {
    const bytes = file.read();
    if (isArchive(path, bytes)) fail('invalid_archive', NESTED, { path: file.path });
    const sha256 = hash('sha256', bytes, 'hex');
    yield [{ file: { path, mediaType: mediaTypeOf(path), sizeBytes: bytes.length, sha256 } }, bytes];
  }
}
