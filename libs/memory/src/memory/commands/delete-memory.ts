import { type CommandMeta, Decisions, type Receipt, reject } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Forgetting } from '../forgetting';
import { assertMayChange, type MemoryCaller, visibleMemory } from '../memory-access';
import { memoryDecider } from '../memory.decider';

/** Deletes a memory, or a proposal of the caller, permanently. */
export class DeleteMemory extends Command<Receipt> {
  constructor(
    readonly caller: MemoryCaller,
    readonly agentId: string,
    readonly memoryId: string,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(DeleteMemory)
export class DeleteMemoryHandler implements ICommandHandler<DeleteMemory> {
  constructor(
    private readonly decisions: Decisions,
    private readonly forgetting: Forgetting,
  ) {}

  async execute({ caller, agentId, memoryId, meta }: DeleteMemory): Promise<Receipt> {
    const { state } = await this.decisions.load(memoryDecider, memoryId);
    const isGone = state.status === 'deleted' || state.status === 'discarded';
    if (!isGone) assertMayChange(await visibleMemory(this.decisions, agentId, memoryId, caller), caller);
    const receipt = await this.forgetting.delete(memoryId, meta);
    // A request that is sent again gets its receipt; for any other it is unknown.
    return isGone && !receipt.repeated ? reject('not_found', { kind: 'memory', id: memoryId }) : receipt;
  }
}
