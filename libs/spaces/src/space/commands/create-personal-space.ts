import { type CommandMeta, Decisions, deriveId, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { spaceDecider } from '../space.decider';

/** The id of a user's one personal Space is derived from the user's id. */
export const personalSpaceOf = (userId: string): string => deriveId(userId, 'personal-space');

const FIELDS = { name: 'Personal', slug: 'personal', description: '', color: '#6B7280' };

/** Creates the personal Space of a user. Does nothing if it exists. */
export class CreatePersonalSpace extends Command<Receipt> {
  constructor(
    readonly userId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(CreatePersonalSpace)
export class CreatePersonalSpaceHandler implements ICommandHandler<CreatePersonalSpace> {
  constructor(private readonly decisions: Decisions) {}

  execute({ userId, meta }: CreatePersonalSpace): Promise<Receipt> {
    const spaceId = personalSpaceOf(userId);
    return this.decisions.transact(
      spaceDecider,
      spaceId,
      { type: 'Create', spaceId, kind: 'personal', ownerId: userId, fields: FIELDS },
      meta,
    );
  }
}
