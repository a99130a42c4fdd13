import { type CommandMeta, Decisions, givenFields, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { tagRegistryDecider } from '../tag-registry.decider';

/** Changes the name or colour of a tag. Throws `not_found` and `name_taken`. */
export class UpdateTag extends Command<Receipt> {
  constructor(
    readonly spaceId: string,
    readonly tagId: string,
    readonly change: { readonly name?: string; readonly color?: string },
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(UpdateTag)
export class UpdateTagHandler implements ICommandHandler<UpdateTag> {
  constructor(private readonly decisions: Decisions) {}

  execute({ spaceId, tagId, change, meta: { ifRevision, ...meta } }: UpdateTag): Promise<Receipt> {
    return this.decisions.transact(
      tagRegistryDecider,
      spaceId,
      { type: 'Update', tagId, ...change, ...givenFields({ ifRevision }) },
      meta,
    );
  }
}
