import type { CommandMeta } from './command-meta';
import { isAccessDenied, isDomainError, isUnavailable, Unavailable } from './errors';
import { deriveId } from './ids';
import type { RecordedEvent } from './recorded-event';

/**
 * The meta of a further step of a command, on another stream. Its id is the same for every repeat. `If-Match` applied to the
 * aggregate itself, so it is left out.
 */
export const stepOf = ({ ifRevision: _ifRevision, ...meta }: CommandMeta, label: string): CommandMeta => ({
  ...meta,
  commandId: deriveId(meta.commandId, label),
  causationId: meta.causationId ?? meta.commandId,
});

/**
 * Runs a step after a write, or one that undoes something. If it cannot run now, a policy or the next caller does it:
 * an error would make the caller repeat a command that was carried out. Undefined if it was left.
 */
export const unlessLeft = async <T>(step: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await step();
  } catch (error) {
    if (isUnavailable(error) || isDomainError(error)) return undefined;
    throw error;
  }
};

/**
 * Runs a step that goes before all work, such as taking a claim. Where a store did not confirm it, it throws `Unavailable` with the outcome
 * `none`: whatever became of the step, nothing of the work was done.
 */
export const beforeWork = async <T>(step: () => Promise<T>): Promise<T> => {
  try {
    return await step();
  } catch (error) {
    if (!isUnavailable(error) || isAccessDenied(error) || error.outcome === 'none') throw error;
    throw new Unavailable(error.dependency, error.reason, 'none', { cause: error });
  }
};

/** The meta of a command that a policy issues on an event. The same however often the event is delivered. */
export const reactionTo = ({ context }: RecordedEvent, policy: string, now: Date): CommandMeta => ({
  // From the command behind the event, so that ids made by the reaction keep the order of time.
  commandId: deriveId(context.commandId, `${policy}/${context.id}`),
  actor: `system:${policy}`,
  correlationId: context.correlationId,
  causationId: context.id,
  now,
});
