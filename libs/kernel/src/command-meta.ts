import type { Uuid } from './ids';

/** Who asks, for what, and when: travels from the edge into the metadata of every event that follows. */
export interface CommandMeta {
  /** The command's identity: the same id is decided once. */
  readonly commandId: Uuid;
  /** Keyed hash of the command's body; tells a repeat from another command under the same id. */
  readonly commandHash?: string;
  /** `user:<id>`, `key:<id>`, `app:<id>`, `visitor:<id>` or `system:<policy>`. */
  readonly actor: string;
  /** `user:<id>` beside a key or an App. */
  readonly onBehalfOf?: string;
  readonly requestId?: string;
  readonly correlationId: Uuid;
  /** The command or event that caused this command; the command itself where nothing did. */
  readonly causationId?: Uuid;
  readonly now: Date;
  /** `If-Match`: the revision the stream must have (412 otherwise). */
  readonly ifRevision?: number;
  /** What became of it so far: one for all its steps, for whoever has to say what an error left behind. */
  readonly progress?: CommandProgress;
}

export interface CommandProgress {
  /** Something was appended, or may have been. */
  hasWritten: boolean;
}

/** What a write answers: where it stands in the log, so that its writer can wait for views to show it. */
export interface Receipt {
  readonly stream: string;
  readonly position: string;
  readonly revision: number;
  readonly eventIds: readonly Uuid[];
  /** True when the command had been decided before and nothing was written now. */
  readonly repeated: boolean;
}
