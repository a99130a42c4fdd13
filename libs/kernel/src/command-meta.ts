import type { Uuid } from './ids';

/** Who sent a command, why and when. Travels from the API into the metadata of every event that follows. */
export interface CommandMeta {
  /** The id of the command. The same id is decided once. */
  readonly commandId: Uuid;
  /** Keyed hash of the command's body. Tells a repeat from another command with the same id. */
  readonly commandHash?: string;
  /** `user:<id>`, `key:<id>`, `app:<id>`, `visitor:<id>` or `system:<policy>`. */
  readonly actor: string;
  /** `user:<id>` beside a key or an App. */
  readonly onBehalfOf?: string;
  readonly requestId?: string;
  readonly correlationId: Uuid;
  /** The command or event that caused this command; the command itself if nothing did. */
  readonly causationId?: Uuid;
  readonly now: Date;
  /** `If-Match`: the revision the stream must have (412 otherwise). */
  readonly ifRevision?: number;
  /** What its steps have done so far, to tell what an error left behind. */
  readonly progress?: CommandProgress;
}

/** How far a command has come: tells whether an outcome may be unknown. */
export interface CommandProgress {
  /** Something was appended, or may have been. */
  hasWritten: boolean;
}

/** The result of a write: its place in the log, so that the caller can wait for views to show it. */
export interface Receipt {
  readonly stream: string;
  readonly position: string;
  readonly revision: number;
  readonly eventIds: readonly Uuid[];
  /** True if the command had been decided before and nothing was written now. */
  readonly repeated: boolean;
}
