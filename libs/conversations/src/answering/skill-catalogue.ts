import { countTokens } from '@app/kernel';
import { mostTokens, relevancesAtOnce } from '@app/models';
import { LRUCache } from 'lru-cache';
import type { LoadableSkill } from './skills';

/** Tokens of what a catalogue says of a Skill, by its version. */
const counted = new LRUCache<string, number>({ max: 10_000 });

const INTRODUCTION =
  'You have these Skills: procedures for certain kinds of tasks. If a task fits a Skill, call load_skill with its name before you begin.';

/** The names of Skills, each with its description; beyond so many tokens the least relevant have their names alone. */
export const catalogueOf = (skills: readonly LoadableSkill[], question: string, most: number): string => {
  if (skills.length === 0) return '';
  const described = describedIn(skills, question, most);
  const lines = skills.map((skill) => (described.has(skill.skillId) ? lineOf(skill) : `- ${skill.slug}`));
  return [INTRODUCTION, ...lines].join('\n');
};

const describedIn = (skills: readonly LoadableSkill[], question: string, most: number): ReadonlySet<string> => {
  const all = new Set(skills.map(({ skillId }) => skillId));
  if (skills.reduce((sum, skill) => sum + mostTokens(lineOf(skill)), 0) <= most) return all;
  if (skills.reduce((sum, skill) => sum + tokensOf(skill), 0) <= most) return all;
  const shares = relevancesAtOnce(question, skills.map(lineOf));
  const ranked = skills.map((skill, index) => ({ skill, share: shares[index] ?? 0 }));
  const described = new Set<string>();
  let room = most - countTokens(skills.map(({ slug }) => `- ${slug}`).join('\n'));
  for (const { skill } of ranked.toSorted((a, b) => b.share - a.share)) {
    room -= tokensOf(skill);
    if (room < 0) break;
    described.add(skill.skillId);
  }
  return described;
};

/** What a catalogue says of a Skill that it describes. */
export const lineOf = ({ slug, description }: Pick<LoadableSkill, 'slug' | 'description'>): string =>
  `- ${slug}: ${description.replace(/\s+/gu, ' ').trim()}`;

const tokensOf = (skill: LoadableSkill): number => {
  const tokens = counted.get(skill.versionId) ?? countTokens(`${lineOf(skill)}\n`);
  counted.set(skill.versionId, tokens);
  return tokens;
};
