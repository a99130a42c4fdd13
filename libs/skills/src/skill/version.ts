import { isErased, revealed, type Sensitive } from '@app/kernel';
import { List, Map as PersistentMap } from 'immutable';
import { contentHashOf } from '../archive';
import type { StoredFile, TextFinding } from './skill.events';

/** The fields at the head of a SKILL.md, as they stand there. */
export type Frontmatter = Readonly<Record<string, unknown>>;

/** What a version of a Skill holds. Versions share the bodies of files that did not change between them. */
export interface VersionContent {
  readonly description: Sensitive<string>;
  readonly instructions: Sensitive<string>;
  /** Every key of the frontmatter but name and description. */
  readonly frontmatter: Sensitive<Frontmatter>;
  /** Of description and instructions. */
  readonly findings: readonly TextFinding[];
  /** By path; one that was erased by the name of its body. */
  readonly files: PersistentMap<string, StoredFile>;
}

/** A version of a Skill: the draft, or one that was published and never changes. */
export interface SkillVersion extends VersionContent {
  readonly id: string;
  /** From 1. */
  readonly number: number;
  /** The version that it began as a copy of. */
  readonly basedOn: string | null;
  readonly createdBy: string | null;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  /** Null: it is the draft. */
  readonly publishedAt: string | null;
  /** Null: it is the draft; see `hashOf`. */
  readonly contentHash: Sensitive<string> | null;
}

/** A change of a draft; absent fields stay. */
export interface DraftChange {
  readonly description?: string;
  readonly instructions?: string;
  readonly frontmatter?: Frontmatter;
  readonly findings?: readonly TextFinding[];
  /** Added, or in place of those of the same paths. */
  readonly files?: readonly StoredFile[];
  readonly removed?: readonly string[];
}

export const emptyContent: VersionContent = {
  description: '',
  instructions: '',
  frontmatter: {},
  findings: [],
  files: PersistentMap(),
};

/** What a file is kept under: its path, or the name of its body once the path is erased. */
export const keyOf = ({ path, file }: StoredFile): string => (isErased(path) ? file : path);

/** The content with a change in it. */
export const changedContent = (
  content: VersionContent,
  {
    files = [],
    removed = [],
    ...texts
  }: { readonly [Key in keyof DraftChange]?: DraftChange[Key] | VersionContent[keyof VersionContent & Key] } & {
    readonly files?: readonly StoredFile[];
    readonly removed?: readonly string[];
  },
): VersionContent => ({
  ...content,
  ...(texts as Partial<VersionContent>),
  files: content.files.deleteAll(removed).merge(files.map((file) => [keyOf(file), file] as const)),
});

/** Its `contentHash`. */
export const hashOf = (version: VersionContent & { readonly contentHash?: Sensitive<string> | null }): string =>
  version.contentHash === undefined || version.contentHash === null
    ? contentHashOf({
        description: revealed(version.description, ''),
        instructions: revealed(version.instructions, ''),
        frontmatter: revealed(version.frontmatter, {}),
        files: filesOf(version).map(({ path, sha256 }) => ({
          path: revealed<string>(path, ''),
          sha256: revealed<string>(sha256, ''),
        })),
      })
    : revealed(version.contentHash, '');

const loadedHashes = new WeakMap<VersionContent, string>();

/** A hash of what an Agent can load of it: its content but for the frontmatter, which no Agent is given. */
export const loadedHashOf = (version: VersionContent): string => {
  const known = loadedHashes.get(version);
  if (known !== undefined) return known;
  const { description, instructions, files } = version;
  const hash = hashOf({ ...emptyContent, description, instructions, files });
  loadedHashes.set(version, hash);
  return hash;
};

const sortedFiles = new WeakMap<VersionContent['files'], readonly StoredFile[]>();

/** Its files in the order of their paths. */
export const filesOf = ({ files }: VersionContent): readonly StoredFile[] => {
  const known = sortedFiles.get(files);
  if (known !== undefined) return known;
  const sorted = [...files.keys()].toSorted().map((key) => files.get(key) as StoredFile);
  sortedFiles.set(files, sorted);
  return sorted;
};

/** Names of the stored bodies of all files in these versions. */
export const bodiesOf = (versions: readonly VersionContent[]): ReadonlySet<string> =>
  new Set(
    versions.flatMap(({ files }) =>
      files
        .valueSeq()
        .map(({ file }) => file)
        .toArray(),
    ),
  );

/** Bodies of the one that none of the others has. */
export const bodiesOnlyIn = (version: VersionContent, others: List<VersionContent>): string[] => {
  const kept = bodiesOf(others.toArray());
  return [...bodiesOf([version])].filter((body) => !kept.has(body));
};
