import { createHash } from 'node:crypto';
import { canonicalJson } from '@app/kernel/threads';
import type { ParsedSkill, SkillFile } from './skill';

/** What a Skill's content is: everything but what it is called and where it stands. */
export interface SkillContent extends Pick<ParsedSkill, 'description' | 'instructions' | 'frontmatter'> {
  readonly files: readonly Pick<SkillFile, 'path' | 'sha256'>[];
}

/** Instructions in the form in which they are stored, exported and compared: lines end in LF, and no blank lines stand around them. */
export const normalisedInstructions = (text: string): string => {
  const lines = text.replace(/\r\n?/g, '\n').trimEnd();
  // From the line of the first character: an expression of blank lines takes memory for each.
  return lines.slice(lines.lastIndexOf('\n', lines.search(/\S/)) + 1);
};

/**
 * A hash of a Skill's content, in hex: equal for equal content, whichever way it came in. SHA-256 of the canonical JSON of its
 * parts, the files by path and hash.
 */
export const contentHashOf = ({ description, instructions, frontmatter, files }: SkillContent): string =>
  createHash('sha256')
    .update(
      canonicalJson({
        description: description.trim(),
        instructions: normalisedInstructions(instructions),
        frontmatter,
        files: files.map(({ path, sha256 }) => [path, sha256]).toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
      }),
    )
    .digest('hex');
