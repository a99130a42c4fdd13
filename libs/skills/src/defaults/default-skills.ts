import { type Clock, CLOCK, CONFIG, type Config, type Ids, IDS, nameId } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { contentHashOf } from '../archive';
import { EntryListing } from '../marketplace/entry-listing';
import { SkillBodies } from '../skill/skill-bodies';
import { screened } from '../skill/draft';
import { SkillLimit } from '../skill/skill-limit';
import { emptyContent } from '../skill/version';
import { readSkillFolder } from './skill-folder';

/** A namespace of our own for slugs of the operator's folder (RFC 9562). Never changes: it is in the log. */
const FOLDER = '9f0c6a52-3d1e-4b7a-8c25-6e41d7b0a3f8';

/** The entry of a Skill of the operator's folder: one for each slug, on every process. */
const entryIdOfDefault = (slug: string): string => nameId(FOLDER, slug);

/**
 * The Skills of `DEFAULT_SKILLS_DIR`, which every Agent has. They are read at the start and listed in the log as versions of entries
 * that no Skill is the origin of, so that answers name what they had also after the folder changed. Which of them there are is what
 * the folder of this process has.
 */
@Injectable()
export class DefaultSkills {
  private readonly waiting: Set<string>;
  /** Ids of their entries, in the order of the folder. */
  readonly entryIds: readonly string[];

  /** Throws `InvalidConfig` where the folder is wrong. */
  constructor(
    private readonly bodies: SkillBodies,
    private readonly listing: EntryListing,
    private readonly limit: SkillLimit,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    const slugs = this.read().map(({ slug }) => slug);
    this.waiting = new Set(slugs);
    this.entryIds = slugs.map(entryIdOfDefault);
  }

  /** Lists what is not listed as it is in the folder. Once for a start: while processes of two releases run, none undoes what the other lists. */
  async list(): Promise<void> {
    if (this.waiting.size === 0) return;
    for (const skill of this.read().filter(({ slug }) => this.waiting.has(slug))) {
      const { slug, name, description, instructions, frontmatter, files } = skill;
      const commandId = this.ids.next();
      const meta = { commandId, correlationId: commandId, actor: 'system:skills', now: this.clock.now() };
      const texts = { name, slug, description, instructions, frontmatter: frontmatter as Record<string, never> };
      const { findings = [] } = screened({ description, instructions }, emptyContent);
      const contentHash = contentHashOf({ description, instructions, frontmatter, files });
      await this.listing.list(
        entryIdOfDefault(slug),
        {
          version: { sourceId: null, listedBy: null, ...texts, findings: [...findings], contentHash },
          files: [],
          // The operator's own.
          acceptFindings: true,
          store: (stream, before) => this.bodies.storeAt(stream, {}, files, before),
        },
        meta,
      );
      this.waiting.delete(slug);
    }
  }

  private read() {
    const folder = this.config.DEFAULT_SKILLS_DIR;
    return folder === undefined ? [] : readSkillFolder(folder, this.limit.ofVersion);
  }
}
