import { type CommandMeta, Decisions, deriveId, type Receipt } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { tagRegistryDecider } from '../tag-registry.decider';

export interface CreatedTag {
  readonly tagId: string;
  readonly receipt: Receipt;
}

/** Creates a tag in a Space. Throws `name_taken`. */
export class CreateTag extends Command<CreatedTag> {
  constructor(
    readonly spaceId: string,
    readonly tag: { readonly name: string; readonly color: string },
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(CreateTag)
export class CreateTagHandler implements ICommandHandler<CreateTag> {
  constructor(private readonly decisions: Decisions) {}

  async execute({ spaceId, tag, meta }: CreateTag): Promise<CreatedTag> {
    const tagId = deriveId(meta.commandId, 'tag');
    return {
      tagId,
      receipt: await this.decisions.transact(
        tagRegistryDecider,
        spaceId,
        { type: 'Create', tagId, spaceId, ...tag },
        meta,
      ),
    };
  }
}
