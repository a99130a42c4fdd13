import { type CommandMeta, Decisions, deriveId, type Receipt, reject, unlessLeft } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { SkillFile } from '../../archive';
import { SkillNames } from '../../names/skill-names';
import { SkillBodies } from '../skill-bodies';
import { SkillLimit } from '../skill-limit';
import { activeVersion, type PresentSkill, type SavingDraft, skillDecider } from '../skill.decider';
import { bodiesOf, type Frontmatter } from '../version';

/** Content of a draft as it was sent; absent fields stay. */
export interface GivenContent {
  readonly description?: string;
  readonly instructions?: string;
  readonly frontmatter?: Frontmatter;
  /** Added, or in place of those of the same paths. */
  readonly files?: readonly SkillFile[];
  readonly removed?: readonly string[];
}

/** What changes of a Skill; what is absent stays. */
export interface SkillChange {
  readonly name?: string;
  readonly content?: GivenContent;
  /** `content` is all that the draft has from then on. */
  readonly whole?: true;
}

/** Renames a Skill, changes its draft, or begins one as a copy of what is live. Throws `not_found`, `name_taken` and `too_large`. */
export class UpdateSkill extends Command<Receipt> {
  constructor(
    readonly skillId: string,
    readonly change: SkillChange,
    readonly userId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(UpdateSkill)
export class UpdateSkillHandler implements ICommandHandler<UpdateSkill> {
  constructor(
    private readonly decisions: Decisions,
    private readonly bodies: SkillBodies,
    private readonly names: SkillNames,
    private readonly limits: SkillLimit,
  ) {}

  async execute({ skillId, change, userId, meta }: UpdateSkill): Promise<Receipt> {
    const { state: skill } = await this.decisions.load(skillDecider, skillId);
    if (skill.status !== 'present') return reject('not_found', { kind: 'skill', id: skillId });
    const draft = await this.draftOf(skillId, skill, { change, userId, meta });
    return this.bodies.naming(skillId, draft?.change.files ?? [], () =>
      this.apply(skillId, skill, change.name, draft, meta),
    );
  }

  private async apply(
    skillId: string,
    skill: PresentSkill,
    name: string | undefined,
    draft: SavingDraft | undefined,
    meta: CommandMeta,
  ): Promise<Receipt> {
    const apply = (rename?: { readonly name: string; readonly ticket: string }) =>
      this.decisions.transact(
        skillDecider,
        skillId,
        { type: 'Change', ...(rename === undefined ? {} : { rename }), ...(draft === undefined ? {} : { draft }) },
        meta,
      );
    const { spaceId, agentId, slug } = skill;
    if (name === undefined || name === skill.name || typeof slug !== 'string') return apply();
    const receipt = await this.names.hold({ spaceId, agentId, skillId, name, slug }, meta, (ticket) =>
      apply({ name, ticket }),
    );
    const { state: now } = await this.decisions.load(skillDecider, skillId);
    if (now.status === 'present' && now.ticket !== skill.ticket)
      await unlessLeft(() => this.names.release(spaceId, skill.ticket, meta));
    return receipt;
  }

  private async draftOf(
    skillId: string,
    skill: PresentSkill,
    { change: { content, whole }, userId, meta }: Pick<UpdateSkill, 'change' | 'userId' | 'meta'>,
  ): Promise<SavingDraft | undefined> {
    if (content === undefined) return undefined;
    const { files: given = [], removed = [], ...texts } = content;
    this.limits.assert(given);
    const before = skill.draft ?? activeVersion(skill);
    const files = await this.bodies.store({ skillId, spaceId: skill.spaceId }, given, before);
    const held = bodiesOf(before === undefined ? [] : [before]);
    return {
      versionId: deriveId(meta.commandId, 'version'),
      savedBy: userId,
      change: { ...texts, files, removed },
      ...(whole === true ? { whole } : {}),
      reused: files.map(({ file }) => file).filter((file) => held.has(file)),
      limits: this.limits.ofVersion,
    };
  }
}
