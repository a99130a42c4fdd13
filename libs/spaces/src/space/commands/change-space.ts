import { type CommandMeta, Decisions, type Receipt, refuse, streamOf } from '@app/kernel';
import { type Claim, Reservations } from '@app/reservations';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { forfeitOfSpace } from '../forfeit';
import { type PresentSpace, spaceDecider, type SpaceFields } from '../space.decider';

/** Changes the fields given. Refuses with `name_taken` for the name and the slug of a team Space. */
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
    if (space.status !== 'present') return refuse('not_found');
    const name = this.move('space.name', fields.name, space.nameClaim, space, meta);
    const slug = this.move('space.slug', fields.slug, space.slugClaim, space, meta);
    const claims = [name.claim, slug.claim].filter((claim) => claim !== undefined);
    const command = {
      type: 'Change',
      fields,
      ...(name.claim === undefined ? {} : { nameClaim: name.claim }),
      ...(slug.claim === undefined ? {} : { slugClaim: slug.claim }),
    } as const;
    const receipt = await this.reservations.hold(claims, streamOf(spaceDecider.category, spaceId), forfeitOfSpace(this.decisions), meta, () =>
      this.decisions.transact(spaceDecider, spaceId, command, meta),
    );
    for (const released of [name.released, slug.released]) if (released !== undefined) await this.reservations.release(released, meta);
    return receipt;
  }

  /** The claim to a new name and the one it replaces; neither where the name stays or need not be unique. */
  private move(kind: string, text: string | undefined, held: Claim | undefined, space: PresentSpace, meta: CommandMeta): { readonly claim?: Claim; readonly released?: Claim } {
    if (text === undefined || space.kind === 'personal') return {};
    const claim = this.reservations.claim(kind, text, meta.commandId);
    if (claim.key === held?.key) return {};
    return held === undefined ? { claim } : { claim, released: held };
  }
}
