import {
  isDomainError,
  isUnavailable,
  type Json,
  nameId,
  type Position,
  type StoredEvent,
  type UnreadableEvent,
  type Uuid,
} from '@app/kernel';
import type { UniqueViolation } from '@app/read-store';

/** Why an event could not be handled; stored by name. `order`: it arrived after later events had been handled. */
export type DeadLetterReason = 'unknown_type' | 'schema' | 'newer_schema' | 'apply' | 'sink' | 'order' | 'reaction';

/**
 * An event that a projection or policy could not handle. Later events of its stream wait; all other streams continue.
 * It holds the place of the event and the reason, but no content.
 */
export interface DeadLetter {
  readonly id: Uuid;
  readonly source: 'projection' | 'policy';
  /** Name of the projection or policy. */
  readonly name: string;
  readonly eventId: Uuid;
  readonly type: string;
  readonly stream: string;
  readonly revision: number;
  readonly position: Position;
  readonly reason: DeadLetterReason;
  readonly detail: string;
  readonly attempts: number;
  /** When it failed last, ISO 8601 UTC. */
  readonly failedAt: string;
}

/** An event that cannot be handled, with its class; raised where the failure is understood. */
export class PoisonEvent extends Error {
  override readonly name = 'PoisonEvent';

  constructor(
    readonly event: StoredEvent,
    readonly reason: DeadLetterReason,
    readonly detail: string,
  ) {
    super(
      `event ${event.id} (${event.type}, ${event.stream}@${event.revision}) cannot be handled: ${reason} ${detail}`,
    );
  }
}

export const deadLetter = (
  source: DeadLetter['source'],
  name: string,
  { event, reason, detail }: PoisonEvent,
  attempts: number,
  now: Date,
): DeadLetter => ({
  id: letterId(source, name, event.id),
  source,
  name,
  eventId: event.id,
  type: event.type,
  stream: event.stream,
  revision: event.revision,
  position: event.position,
  reason,
  detail,
  attempts,
  failedAt: now.toISOString(),
});

const letterId = (source: DeadLetter['source'], name: string, eventId: Uuid): Uuid =>
  nameId(eventId, `${source}/${name}`);

/** The same dead letter standing at a later event of its stream, which was not tried yet. */
export const movedTo = (letter: DeadLetter, event: StoredEvent): DeadLetter => ({
  ...letter,
  id: letterId(letter.source, letter.name, event.id),
  eventId: event.id,
  type: event.type,
  revision: event.revision,
  position: event.position,
  attempts: 0,
});

/** Null for none. */
export const letterJson = (letter: DeadLetter | null = null): Json => letter && { ...letter };

/** True where an event cannot be decoded, so that trying again is useless. */
export const isUnreadable = (error: unknown): error is UnreadableEvent =>
  error instanceof Error && error.name === 'UnreadableEvent';

const isUniqueViolation = (error: unknown): error is UniqueViolation =>
  error instanceof Error && error.name === 'UniqueViolation';

/**
 * The description of an error: its code or name and where it was thrown. Messages are left out, because they may quote
 * content.
 */
export const describeError = (error: unknown): string => {
  if (isDomainError(error)) return error.code;
  if (isUniqueViolation(error)) return `repeats a value of the unique index ${error.index}`;
  if (isUnreadable(error)) return error.message;
  if (!(error instanceof Error)) return typeof error;
  const frame = error.stack?.split('\n').find((line) => line.trimStart().startsWith('at '));
  return frame === undefined ? error.name : `${error.name} ${frame.trim().replace(/\(?\/.*\//, '(')}`;
};

const NAMES: ReadonlySet<string> = new Set(['Fenced', 'CheckpointMismatch', 'LogCorrupted']);

export const isFenced = (error: unknown): boolean => error instanceof Error && error.name === 'Fenced';

export const isCheckpointMismatch = (error: unknown): boolean =>
  error instanceof Error && error.name === 'CheckpointMismatch';

/** True for a failure that the event did not cause: the store is unavailable or busy, or another writer was faster. */
export const isTransient = (error: unknown): boolean =>
  isUnavailable(error) ||
  (error instanceof Error &&
    (NAMES.has(error.name) ||
      /^(SQLITE_BUSY|SQLITE_LOCKED|SQLITE_FULL|SQLITE_IOERR)/.test(String((error as { code?: unknown }).code))));
