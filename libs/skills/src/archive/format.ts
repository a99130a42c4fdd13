import { canonicalJson, hasAtMost } from '@app/kernel/threads';

/**
 * What the Agent Skills format says of a frontmatter, beside name and description (its specification, and the checks of its
 * reference validator `skills-ref`, which accepts no other key).
 */
export const FORMAT_KEYS: ReadonlySet<string> = new Set(['license', 'compatibility', 'metadata', 'allowed-tools']);
const MAX_COMPATIBILITY = 500;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Whether the validator accepts a value of a key of the format, and everybody reads it alike. */
export const conforms = (key: string, value: unknown): boolean => {
  if (key === 'license') return isText(value);
  if (key === 'compatibility') return isText(value) && hasAtMost(MAX_COMPATIBILITY, value);
  if (key === 'allowed-tools')
    return isText(value) || (Array.isArray(value) && value.length > 0 && value.every(isText));
  return (
    key === 'metadata' &&
    isRecord(value) &&
    Object.keys(value).length > 0 &&
    Object.entries(value).every(([name, text]) => name !== '' && name.length <= MAX_KEY && isText(text))
  );
};

/** Longer keys need another notation in YAML. */
const MAX_KEY = 200;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The key of `metadata` that holds, as JSON, what the format has no place for: a free name, other keys, and what the archive is. */
const OURS = 'agent-platform';

/** What a Skill has beside what every reader of the format knows. */
export interface Kept {
  readonly name?: string;
  /** Where it is not made of `name`, since the Skill was renamed. */
  readonly slug?: string;
  /** Its folder holds this Skill alone: a `SKILL.md` further down is a reference file. */
  readonly isWhole?: true;
  readonly frontmatter: Readonly<Record<string, unknown>>;
}

/** A frontmatter that the validator accepts, with everything that is kept. */
export const conforming = ({ frontmatter, ...kept }: Kept): Readonly<Record<string, unknown>> => {
  const metadata = frontmatter['metadata'];
  const isOurs = isRecord(metadata) && Object.hasOwn(metadata, OURS);
  const stays = ([key, value]: readonly [string, unknown]): boolean =>
    FORMAT_KEYS.has(key) && conforms(key, value) && !(key === 'metadata' && isOurs);
  const entries = Object.entries(frontmatter);
  const known = Object.fromEntries(entries.filter(stays));
  const others = Object.fromEntries(entries.filter((entry) => !stays(entry)));
  if (Object.keys(kept).length === 0 && Object.keys(others).length === 0) return known;
  const ours = canonicalJson({ ...kept, frontmatter: others });
  return { ...known, metadata: { ...(known['metadata'] as object | undefined), [OURS]: ours } };
};

/** What `conforming` was given; a frontmatter from elsewhere is itself. */
export const restored = (frontmatter: Readonly<Record<string, unknown>>): Kept => {
  const { metadata, ...known } = frontmatter;
  if (!isRecord(metadata)) return { frontmatter };
  const { [OURS]: ours, ...rest } = metadata;
  const kept = isText(ours) ? keptIn(ours) : undefined;
  if (kept === undefined || Object.keys(kept.frontmatter).some((key) => Object.hasOwn(known, key)))
    return { frontmatter };
  const others = Object.keys(rest).length === 0 ? {} : { metadata: rest };
  return { ...kept, frontmatter: { ...known, ...others, ...kept.frontmatter } };
};

/** Undefined where it is none of ours. */
const keptIn = (json: string): Kept | undefined => {
  try {
    const kept = JSON.parse(json) as Partial<Kept>;
    const { name, slug, isWhole, frontmatter, ...more } = kept;
    const isKept =
      isRecord(frontmatter) &&
      !['name', 'description', '__proto__'].some((key) => Object.hasOwn(frontmatter, key)) &&
      [name, slug].every((text) => text === undefined || isText(text)) &&
      [undefined, true].includes(isWhole) &&
      Object.keys(more).length === 0;
    return isKept ? { ...kept, frontmatter } : undefined;
  } catch {
    return undefined;
  }
};
