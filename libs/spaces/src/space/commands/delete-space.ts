import { type CommandMeta, Decisions, type Receipt, unlessLeft } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Reservations } from '@app/reservations';
import { spaceDecider } from '../space.decider';

/** Deletes a team Space; policies remove its content. Throws `conflict` for a personal Space, unless its user is deleted. */
export class DeleteSpace extends Command<Receipt> {
  constructor(
    readonly spaceId: string,
    readonly meta: CommandMeta,
    readonly withUser = false,
  ) {
    super();
  }
}

@CommandHandler(DeleteSpace)
export class DeleteSpaceHandler implements ICommandHandler<DeleteSpace> {
  constructor(
    private readonly decisions: Decisions,
    private readonly reservations: Reservations,
  ) {}

  async execute({ spaceId, meta, withUser }: DeleteSpace): Promise<Receipt> {
    const { state: space } = await this.decisions.load(spaceDecider, spaceId);
    const receipt = await this.decisions.transact(spaceDecider, spaceId, { type: 'Delete', withUser }, meta);
    if (space.status !== 'present') return receipt;
    const claims = [space.nameClaim, space.slugClaim].filter((claim) => claim !== undefined);
    await unlessLeft(() => Promise.all(claims.map((claim) => this.reservations.release(claim, meta))));
    return receipt;
  }
}
