import type { CommandMeta } from './command-meta';
import { isDomainError, isUnavailable } from './errors';
import { deriveId } from './ids';
import type { RecordedEvent } from './recorded-event';

/**
 * The meta of a further step of a command, on another stream: an id of its own that is the same for every repeat.
 * `If-Match` was for the thing itself, so it is left out.
 */
export const stepOf = ({ ifRevision: _ifRevision, ...meta }: CommandMeta, label: string): CommandMeta => ({
  ...meta,
  commandId: deriveId(meta.commandId, label),
  causationId: meta.causationId ?? meta.commandId,
});

/**
 * Makes a step behind a write that has happened, or one that takes something back. Where it cannot be made now it is left to whoever
 * makes it too, a policy or the next who needs it: whoever were told that their command failed would give it again. Undefined where it was left.
 */
export const unlessLeft = async <T>(step: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await step();
  } catch (error) {
    if (isUnavailable(error) || isDomainError(error)) return undefined;
    throw error;
  }
};

/** The meta of a command that a policy issues on an event: the same however often the event is handed over. */
export const reactionTo = ({ context }: RecordedEvent, policy: string, now: Date): CommandMeta => ({
  // From the command behind the event, so that ids made by the reaction keep the order of time.
  commandId: deriveId(context.commandId, `${policy}/${context.id}`),
  actor: `system:${policy}`,
  correlationId: context.correlationId,
  causationId: context.id,
  now,
});
