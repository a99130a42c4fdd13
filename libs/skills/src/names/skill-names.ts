import { Claims } from '@app/coordination';
import {
  type AnyEvent,
  type CommandMeta,
  CONFIG,
  type Config,
  type Decider,
  Decisions,
  deriveId,
  type Ids,
  IDS,
  InstanceSecret,
  isDomainError,
  isUndone,
  normalisedName,
  type Receipt,
  reject,
  stepOf,
  streamOf,
  unlessLeft,
} from '@app/kernel';
import type { Claim } from '@app/reservations';
import { Inject, Injectable } from '@nestjs/common';
import { installationDecider } from '../marketplace/installation.decider';
import { skillDecider } from '../skill/skill.decider';
import { inPlaceOf, inTheWayOf, skillNamesDecider, type TakenName } from './skill-names.decider';

/** What a command has from taking a name until its Skill says that it bears it. */
const GRACE_MS = 10_000;
const TAKING = 'skills/taking/';

/** Where a Skill stands, and what it is to be called there. */
export interface WantedName {
  readonly spaceId: string;
  readonly agentId: string | null;
  readonly skillId: string;
  readonly name: string;
  readonly slug: string;
  /** It is an installation of this entry, and `skillId` its id. */
  readonly entryId?: string;
}

/** What Skills and installations have alike: whether they bear a ticket, and how they forfeit one. */
type BearerDecider = Decider<
  { readonly status: string; readonly ticket?: string },
  { readonly type: 'ForfeitClaim'; readonly claim: Claim },
  AnyEvent
>;

/** Whose ticket it is. */
type Bearer = Pick<WantedName, 'spaceId' | 'skillId' | 'entryId'>;

const bearerOf = (entryId: string | undefined): BearerDecider =>
  (entryId === undefined ? skillDecider : installationDecider) as BearerDecider;

/**
 * Names of Skills. One is taken in the registry of its Space before its Skill says so in its own stream. A command that died in
 * between leaves a claim standing, which any process finishes: the Skill forfeits the ticket, so that a command that was only slow
 * cannot use it, and then the registry releases it. Whoever wants the name does the same after a grace.
 */
@Injectable()
export class SkillNames {
  constructor(
    private readonly decisions: Decisions,
    private readonly secret: InstanceSecret,
    private readonly claims: Claims,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CONFIG) private readonly config: Pick<Config, 'SKILLS_PER_PLACE'>,
  ) {}

  /** Takes a name, acts with the ticket to it, and gives back what the Skill does not bear then. Rejects `name_taken`, and `conflict` where the place is full. */
  async hold<T>(wanted: WantedName, meta: CommandMeta, act: (ticket: string) => Promise<T>): Promise<T> {
    const { spaceId, skillId } = wanted;
    const ticket = this.ids.next();
    const release =
      (await this.claims.take(`${TAKING}${spaceId}/${skillId}/${ticket}/${wanted.entryId ?? ''}`)) ??
      reject('conflict', { reason: 'concurrent_changes' });
    let isUnfinished = true;
    try {
      await this.take(wanted, ticket, meta);
      const result = await act(ticket);
      isUnfinished = (await unlessLeft(() => this.settle(wanted, ticket, meta))) === undefined;
      return result;
    } catch (error) {
      // What was rejected can use the ticket no more, so the Skill has nothing to forfeit: its revision stays.
      if (isDomainError(error))
        isUnfinished = (await unlessLeft(() => this.release(spaceId, ticket, meta))) === undefined;
      else if (isUndone(error))
        isUnfinished = (await unlessLeft(() => this.giveBack(wanted, ticket, meta))) === undefined;
      throw error;
    } finally {
      await unlessLeft(() => release({ isUnfinished }));
    }
  }

  /** The Skill of exactly this place that has a slug. */
  async withSlug(
    { spaceId, agentId }: Pick<WantedName, 'spaceId' | 'agentId'>,
    slug: string,
  ): Promise<string | undefined> {
    const { decisions, secret } = this;
    const { state: names } = await decisions.load(skillNamesDecider, spaceId);
    const hashed = secret.hash('skill.slug', slug);
    const ids = inPlaceOf({ agentId }, names).flatMap((taken) => (taken.slug === hashed ? [taken.skillId] : []));
    for (const skillId of ids) {
      const { state: skill } = await decisions.load(skillDecider, skillId);
      if (skill.status === 'present') return skillId;
    }
    return undefined;
  }

  /** Gives a ticket back. */
  release(spaceId: string, ticket: string, meta: CommandMeta): Promise<Receipt> {
    return this.decisions.transact(skillNamesDecider, spaceId, { type: 'Release', ticket }, this.step(meta));
  }

  /** Finishes what commands left that died, or whose log went away. */
  async finish(now: Date): Promise<void> {
    await this.claims.finishAbandoned(TAKING, GRACE_MS / 2, async (rest) => {
      const [spaceId = '', skillId = '', ticket = '', entryId = ''] = rest.split('/');
      const meta = {
        commandId: deriveId(ticket, 'settle'),
        correlationId: ticket,
        actor: 'system:skills',
        now,
      };
      await this.settle({ spaceId, skillId, ...(entryId !== '' && { entryId }) }, ticket, meta);
    });
  }

  private async take(wanted: WantedName, ticket: string, meta: CommandMeta): Promise<void> {
    const { spaceId, ...taken } = this.taken(wanted, ticket);
    const take = () =>
      this.decisions.transact(
        skillNamesDecider,
        spaceId,
        { type: 'Take', most: this.config.SKILLS_PER_PLACE, ...taken },
        this.step(meta),
      );
    try {
      await take();
    } catch (error) {
      if (!isDomainError(error) || !(await this.releaseUnborne(spaceId, taken, meta))) throw error;
      await take();
    }
  }

  /** Keyed by the instance, so that the log gives no name away. */
  private taken({ name, slug, ...place }: WantedName, ticket: string): TakenName & { readonly spaceId: string } {
    const { secret } = this;
    return {
      ...place,
      ticket,
      name: secret.hash('skill.name', normalisedName(name)),
      slug: secret.hash('skill.slug', slug),
    };
  }

  /** Releases what is in the way and no Skill bears. True where anything was. */
  private async releaseUnborne(spaceId: string, wanted: TakenName, meta: CommandMeta): Promise<boolean> {
    const { state: names } = await this.decisions.load(skillNamesDecider, spaceId);
    const before = meta.now.getTime() - GRACE_MS;
    const others = [...inTheWayOf(wanted, names), ...inPlaceOf(wanted, names)];
    let isFreed = false;
    for (const { ticket, at, ...bearer } of others)
      if (Date.parse(at) < before && (await this.settle({ spaceId, ...bearer }, ticket, meta))) isFreed = true;
    return isFreed;
  }

  /** Gives the ticket of a command back that a store did not serve: nothing of it comes later, so the Skill has nothing to forfeit. */
  private async giveBack(of: Bearer, ticket: string, meta: CommandMeta): Promise<true> {
    if (!(await this.isBorne(of, ticket))) await this.release(of.spaceId, ticket, meta);
    return true;
  }

  private async isBorne({ skillId, entryId }: Bearer, ticket: string): Promise<boolean> {
    const { state: skill } = await this.decisions.load(bearerOf(entryId), skillId);
    return skill.status === 'present' && skill.ticket === ticket;
  }

  /** Gives a ticket back that its Skill does not bear; false where it does. */
  private async settle(of: Bearer, ticket: string, meta: CommandMeta): Promise<boolean> {
    const { spaceId, skillId, entryId } = of;
    const { decisions } = this;
    const bearer = bearerOf(entryId);
    if (await this.isBorne(of, ticket)) return false;
    const claim = { key: streamOf(skillNamesDecider.category, spaceId), ticket };
    try {
      await decisions.transact(bearer, skillId, { type: 'ForfeitClaim', claim }, this.step(meta));
    } catch (error) {
      // It took it up in between.
      if (isDomainError(error, 'name_taken')) return false;
      throw error;
    }
    await this.release(spaceId, ticket, meta);
    return true;
  }

  /** A repeat must look at the names again, not be answered as decided. */
  private step(meta: CommandMeta): CommandMeta {
    return { ...stepOf(meta, 'skill-name'), commandId: this.ids.next() };
  }
}
