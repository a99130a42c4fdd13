import { type CommandMeta, Decisions, givenFields, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { tagRegistryDecider } from '../tag-registry.decider';

/** Deletes a tag of a Space. Documents no longer show it. */
export class DeleteTag extends Command<Receipt> {
  constructor(
    readonly spaceId: string,
    readonly tagId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(DeleteTag)
export class DeleteTagHandler implements ICommandHandler<DeleteTag> {
  constructor(private readonly decisions: Decisions) {}

  execute({ spaceId, tagId, meta: { ifRevision, ...meta } }: DeleteTag): Promise<Receipt> {
    return this.decisions.transact(
      tagRegistryDecider,
      spaceId,
      { type: 'Delete', tagId, ...givenFields({ ifRevision }) },
      meta,
    );
  }
}
