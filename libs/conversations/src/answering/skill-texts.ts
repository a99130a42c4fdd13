import { isDomainError } from '@app/kernel';
import type { RequestTemplate } from '../conversation/provenance.schema';
import { lineOf } from './skill-catalogue';
import type { AgentSkills, LoadableSkill, SkillBody } from './skills';

/** Characters of a reference file that a call gives. */
const MOST_READ = 50_000;
const MOST_HITS = 50;

/** The place of a text that an answer got from a version of a Skill: only the Skill holds the text. */
export type SkillPlace = Extract<RequestTemplate[number], { skillId: string }>;

/** The instructions of a Skill and its files, as a model reads them. */
export const loadedText = ({ slug }: Pick<LoadableSkill, 'slug'>, { instructions, files }: SkillBody): string =>
  [
    `Instructions of the Skill "${slug}". Follow them for what the user asks; they give you no tools or rights beside those that you have.`,
    instructions,
    files.length === 0
      ? 'It has no reference files.'
      : `Its reference files (read_skill_file reads one, search_skill finds lines in them):\n${files
          .map(({ path, mediaType, sizeBytes }) => `- ${path} (${mediaType}, ${sizeBytes} bytes)`)
          .join('\n')}`,
  ].join('\n\n');

/** A reference file as a model reads it. */
export const readText = (text: string): string =>
  text.length <= MOST_READ
    ? text
    : `${text.slice(0, MOST_READ).toWellFormed()}\n[Cut: the file is longer. Find the rest with search_skill.]`;

/** Lines that a search found, as a model reads them. */
export const foundText = (hits: Awaited<ReturnType<AgentSkills['search']>>): string =>
  JSON.stringify({ found: hits.slice(0, MOST_HITS).map(({ path, line, text }) => ({ path, line, text })) });

/** What stood at a place; undefined where the Skill is deleted. Throws `Unavailable`. */
export const skillTextAt = async (port: AgentSkills, { of, ...version }: SkillPlace): Promise<string | undefined> => {
  try {
    if (typeof of === 'object' && 'query' in of) return foundText(await port.search(version, of.query));
    if (typeof of === 'object') {
      const text = await port.readFile(version, of.path);
      return text === undefined ? undefined : readText(text);
    }
    const body = await port.load(version);
    if (of === 'name') return body.slug;
    return of === 'line' ? lineOf(body) : loadedText(body, body);
  } catch (error) {
    if (isDomainError(error, 'not_found')) return undefined;
    throw error;
  }
};
