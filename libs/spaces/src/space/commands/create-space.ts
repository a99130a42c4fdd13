import { type CommandMeta, Decisions, deriveId, isDomainError, type Receipt } from '@app/kernel';
import { Reservations } from '@app/reservations';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { claimingSpace } from '../claimant';
import { slugsFor } from '../slug';
import { spaceDecider, type SpaceFields } from '../space.decider';

/** A Space that is to be created; without a slug it gets one from its name. */
export type NewSpace = Omit<SpaceFields, 'slug'> & { readonly slug?: string | undefined };

/** The id of the new Space, and where it is in the log. */
export interface CreatedSpace {
  readonly spaceId: string;
  readonly receipt: Receipt;
}

/** Creates a team Space with its first owner. Throws `name_taken`. Without a slug it takes a free one. */
export class CreateSpace extends Command<CreatedSpace> {
  constructor(
    readonly ownerId: string,
    readonly space: NewSpace,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(CreateSpace)
export class CreateSpaceHandler implements ICommandHandler<CreateSpace> {
  constructor(
    private readonly decisions: Decisions,
    private readonly reservations: Reservations,
  ) {}

  async execute({ ownerId, space, meta }: CreateSpace): Promise<CreatedSpace> {
    const spaceId = deriveId(meta.commandId, 'space');
    const nameClaim = this.reservations.claim('space.name', space.name);
    const claimant = claimingSpace(this.decisions, spaceId);
    const receipt = await this.reservations.hold([nameClaim], claimant, meta, () =>
      firstFree(space.slug === undefined ? slugsFor(space.name) : [space.slug], (slug) => {
        const slugClaim = this.reservations.claim('space.slug', slug);
        const command = {
          type: 'Create',
          spaceId,
          kind: 'team',
          ownerId,
          fields: { ...space, slug },
          nameClaim,
          slugClaim,
        } as const;
        return this.reservations.hold([slugClaim], claimant, meta, () =>
          this.decisions.transact(spaceDecider, spaceId, command, meta),
        );
      }),
    );
    return { spaceId, receipt };
  }
}

const firstFree = async <T>(
  [slug, ...others]: readonly string[],
  attempt: (slug: string) => Promise<T>,
): Promise<T> => {
  try {
    return await attempt(slug as string);
  } catch (error) {
    if (others.length === 0 || !isDomainError(error, 'name_taken')) throw error;
    return firstFree(others, attempt);
  }
};
