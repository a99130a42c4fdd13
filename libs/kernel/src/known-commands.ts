import type { Receipt } from './command-meta';
import type { EventContext } from './recorded-event';

/** What commands came to, by their ids. */
export type KnownCommands = Map<string, { receipt: Receipt; hash: string | undefined; at: number }>;

/** Adds the command of an event. */
export const remember = (
  commands: KnownCommands,
  { commandId, commandHash, recordedAt, ...context }: EventContext,
): void => {
  const eventIds = [...(commands.get(commandId)?.receipt.eventIds ?? []), context.id];
  const receipt: Receipt = {
    stream: context.stream,
    position: context.position,
    revision: context.revision,
    eventIds,
    repeated: false,
  };
  commands.set(commandId, { receipt, hash: commandHash, at: Date.parse(recordedAt) });
};

/** Forgets those of before a time. Entries stand in the order of their commands, so the old ones are the first. */
export const forgetBefore = (commands: KnownCommands, time: number): void => {
  for (const [id, command] of commands) {
    if (command.at >= time) return;
    commands.delete(id);
  }
};
