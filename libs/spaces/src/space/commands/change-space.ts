import { type CommandMeta, Decisions, givenFields, type Receipt, refuse } from '@app/kernel';
import { type Claim, Reservations } from '@app/reservations';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { claimingSpace } from '../claimant';
import { claimsOf, type PresentSpace, spaceDecider, type SpaceFields } from '../space.decider';

/** Changes the fields given. Throws `name_taken` for the name or slug of a team Space. */
export class ChangeSpace extends Command<Receipt> {
  constructor(
    readonly spaceId: string,
    readonly fields: Partial<SpaceFields>,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(ChangeSpace)
export class ChangeSpaceHandler implements ICommandHandler<ChangeSpace> {
  constructor(
    private readonly decisions: Decisions,
    private readonly reservations: Reservations,
  ) {}

  async execute({ spaceId, fields, meta }: ChangeSpace): Promise<Receipt> {
    const { state: space } = await this.decisions.load(spaceDecider, spaceId);
    if (space.status !== 'present') return refuse('not_found', { kind: 'space', id: spaceId });
    const nameClaim = this.claim('space.name', fields.name, space.nameClaim, space);
    const slugClaim = this.claim('space.slug', fields.slug, space.slugClaim, space);
    const command = { type: 'Change', fields, ...givenFields({ nameClaim, slugClaim }) } as const;
    const standing = claimsOf(space);
    const added = [nameClaim, slugClaim]
      .filter((claim) => claim !== undefined)
      .filter((claim) => !standing.includes(claim));
    return this.reservations.hold(added, claimingSpace(this.decisions, spaceId), meta, () =>
      this.decisions.transact(spaceDecider, spaceId, command, meta),
    );
  }

  /** The claim to a given name: a new one, or the present one if the name stays; none if it need not be unique. */
  private claim(
    kind: string,
    text: string | undefined,
    standing: Claim | undefined,
    space: PresentSpace,
  ): Claim | undefined {
    if (text === undefined || space.kind === 'personal') return undefined;
    const claim = this.reservations.claim(kind, text);
    return claim.key === standing?.key ? standing : claim;
  }
}
