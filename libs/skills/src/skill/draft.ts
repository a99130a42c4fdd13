import { isDeepStrictEqual } from 'node:util';
import { givenFields, reject, revealed } from '@app/kernel';
import { findingsWithin } from '@app/screening';
import { areDistinct } from '../archive';
import { headFindings } from './head-findings';
import type { PresentSkill, SavingDraft, VersionLimits } from './skill.decider';
import type { SkillEvent } from './skill.events';
import {
  bodiesOf,
  bodiesOnlyIn,
  changedContent,
  type DraftChange,
  emptyContent,
  type SkillVersion,
  type VersionContent,
} from './version';

/** What a change makes of the draft, or of a copy of what is live. Undefined where nothing changes. Rejects `too_large`. */
export const changedDraft = (
  saving: SavingDraft,
  skill: PresentSkill,
  active: SkillVersion | undefined,
): { readonly event: Extract<SkillEvent, { type: 'SkillDraftSaved' }>; readonly version: SkillVersion } | undefined => {
  const held = bodiesOf([...skill.published, ...(skill.draft === null ? [] : [skill.draft])]);
  if (saving.reused?.every((body) => held.has(body)) === false)
    return reject('conflict', { reason: 'concurrent_changes' });
  const before = skill.draft ?? copyOf(active, saving, skill);
  const change = screened(saving.change, before);
  const given = saving.whole === true ? { ...change, removed: before.files.keySeq().toArray() } : change;
  const version = { ...before, ...changedContent(before, given) };
  if (isSame(before, version)) return undefined;
  assertFits(version, saving.limits);
  assertDistinct(before, version);
  const { id: versionId, number, basedOn } = before;
  const files = version.files.filter((file, path) => before.files.get(path)?.file !== file.file);
  const removed = before.files.keySeq().filter((path) => !version.files.has(path));
  const superseded = skill.draft === null ? [] : bodiesOnlyIn(skill.draft, skill.published.push(version));
  const event = {
    type: 'SkillDraftSaved' as const,
    data: {
      versionId,
      number,
      basedOn,
      savedBy: saving.savedBy,
      ...changeIn({ ...change, files: files.valueSeq().toArray(), removed: removed.toArray() }),
      superseded,
    },
  };
  return { event, version };
};

/** The first draft of a new Skill. Rejects `too_large`. */
export const firstDraft = (
  saving: SavingDraft,
): { readonly event: Extract<SkillEvent, { type: 'SkillDraftSaved' }>; readonly version: SkillVersion } => {
  const change = screened(saving.change, emptyContent);
  const version = { ...newVersion(saving, 1), ...changedContent(emptyContent, change) };
  assertFits(version, saving.limits);
  const { versionId, savedBy } = saving;
  const data = { versionId, number: 1, basedOn: null, savedBy, ...changeIn(change), superseded: [] };
  return { event: { type: 'SkillDraftSaved', data }, version };
};

/** A change with what screening finds in the texts that come of it: in the lines of the instructions, and in the description as line 0. */
export const screened = (change: DraftChange, before: VersionContent): DraftChange => {
  const { description = revealed(before.description, ''), instructions = revealed(before.instructions, '') } = change;
  if (change.description === undefined && change.instructions === undefined) return change;
  const find = findingsWithin();
  return { ...change, findings: [...headFindings(description, find), ...find(instructions)] };
};

const newVersion = ({ versionId, savedBy }: SavingDraft, number: number): SkillVersion => ({
  ...emptyContent,
  id: versionId,
  number,
  basedOn: null,
  createdBy: savedBy,
  createdAt: '',
  publishedAt: null,
  contentHash: null,
});

/** The draft that a change begins: a copy of what is live. */
const copyOf = (active: SkillVersion | undefined, draft: SavingDraft, { published }: PresentSkill): SkillVersion => ({
  ...newVersion(draft, (published.last()?.number ?? 0) + 1),
  ...(active === undefined ? {} : contentOf(active)),
  basedOn: active?.id ?? null,
});

const contentOf = ({ description, instructions, frontmatter, findings, files }: SkillVersion) => ({
  description,
  instructions,
  frontmatter,
  findings,
  files,
});

const changeIn = ({ files = [], removed = [], findings, frontmatter, ...texts }: DraftChange) => ({
  ...texts,
  ...(frontmatter === undefined ? {} : { frontmatter: frontmatter as Record<string, never> }),
  ...(findings === undefined ? {} : { findings: [...findings] }),
  files: [...files],
  removed: [...removed],
});

/** Equal bytes are the same file, wherever they are stored. */
const isSame = (before: SkillVersion, next: SkillVersion): boolean =>
  isDeepStrictEqual(
    [before.description, before.instructions, before.frontmatter],
    [next.description, next.instructions, next.frontmatter],
  ) &&
  before.files.size === next.files.size &&
  before.files.every((file, path) => {
    const other = next.files.get(path);
    return other !== undefined && other.sha256 === file.sha256 && other.mediaType === file.mediaType;
  });

/** The draft behind an event. */
export const savedDraft = (
  data: Extract<SkillEvent, { type: 'SkillDraftSaved' }>['data'],
  at: string,
  skill: PresentSkill,
): SkillVersion => {
  const { versionId, number, basedOn, savedBy, files, removed } = data;
  const { description, instructions, frontmatter, findings } = data;
  const base = skill.draft ?? skill.published.find(({ id }) => id === basedOn);
  const created = skill.draft ?? { createdBy: savedBy, createdAt: at };
  const content = changedContent(base === undefined ? emptyContent : contentOf(base), {
    ...givenFields({ description, instructions, frontmatter, findings }),
    files,
    removed: Array.isArray(removed) ? removed : [],
  });
  return {
    ...content,
    id: versionId,
    number,
    basedOn,
    createdBy: created.createdBy,
    createdAt: created.createdAt,
    publishedAt: null,
    contentHash: null,
  };
};

/** Files are looked at before they are stored: those of another request may have come in between. */
const assertDistinct = (before: VersionContent, { files }: VersionContent): void => {
  const isAdded = files.keySeq().some((path) => !before.files.has(path));
  if (isAdded && !areDistinct(files.keys())) reject('conflict', { reason: 'concurrent_changes' });
};

const assertFits = ({ files }: SkillVersion, limits: VersionLimits): void => {
  if (files.size > limits.files) reject('too_large', { reason: 'skill_files', limit: limits.files });
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (bytes > limits.bytes) reject('too_large', { reason: 'skill_bytes', bytes, limit: limits.bytes });
};
