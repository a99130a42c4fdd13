import { type CommandMeta, Decisions, givenFields, type Receipt, reject } from '@app/kernel';
import { type Claim, Reservations } from '@app/reservations';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { claimingSpace } from '../claimant';
import { claimsOf, type PresentSpace, spaceDecider, type SpaceFields } from '../space.decider';

/** Changes the fields given. Throws `name_taken` for the name or slug of a team Space. */
export class UpdateSpace extends Command<Receipt> {
  constructor(
    readonly spaceId: string,
    readonly fields: Partial<SpaceFields>,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(UpdateSpace)
export class UpdateSpaceHandler implements ICommandHandler<UpdateSpace> {
  constructor(
    private readonly decisions: Decisions,
    private readonly reservations: Reservations,
  ) {}

  async execute({ spaceId, fields, meta }: UpdateSpace): Promise<Receipt> {
    const { state: space } = await this.decisions.load(spaceDecider, spaceId);
    if (space.status !== 'present') return reject('not_found', { kind: 'space', id: spaceId });
    const nameClaim = this.claim('space.name', fields.name, space.nameClaim, space);
    const slugClaim = this.claim('space.slug', fields.slug, space.slugClaim, space);
    const command = { type: 'Update', fields, ...givenFields({ nameClaim, slugClaim }) } as const;
    const current = claimsOf(space);
    const added = [nameClaim, slugClaim]
      .filter((claim) => claim !== undefined)
      .filter((claim) => !current.includes(claim));
    return this.reservations.hold(added, claimingSpace(this.decisions, spaceId), meta, () =>
      this.decisions.transact(spaceDecider, spaceId, command, meta),
    );
  }

  /** The claim to a given name: a new one, or the present one if the name stays; none if it need not be unique. */
  private claim(
    kind: string,
    text: string | undefined,
    current: Claim | undefined,
    space: PresentSpace,
  ): Claim | undefined {
    if (text === undefined || space.kind === 'personal') return undefined;
    const claim = this.reservations.claim(kind, text);
    return claim.key === current?.key ? current : claim;
  }
}
