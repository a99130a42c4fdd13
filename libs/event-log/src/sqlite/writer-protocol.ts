import type { ExpectedRevision, NewEvent } from '@app/kernel';

/** What travels between the log's main thread and its writer thread. Requests of one tick travel in one message. */
export type WriterRequest = AppendRequest | RemovalRequest | CloseRequest;

export interface AppendRequest {
  readonly kind: 'append';
  readonly id: number;
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly NewEvent[];
  /** UTF-8 bytes of the events, about: for the size of a commit. */
  readonly bytes: number;
}

/** Removes events of a stream below a revision; `undefined`: all there are when it begins. */
export interface RemovalRequest {
  readonly kind: 'removal';
  readonly id: number;
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly before: number | undefined;
  /** First revision that a part done earlier has left. */
  readonly done?: number;
}

export interface CloseRequest {
  readonly kind: 'close';
}

export type Reply =
  | { readonly id: number; readonly kind: 'appended' | 'repeated'; readonly position: number; readonly revision: number }
  | { readonly id: number; readonly kind: 'removed' }
  | { readonly id: number; readonly kind: 'wrongRevision'; readonly actual: number }
  | { readonly id: number; readonly kind: 'mixed' }
  | { readonly id: number; readonly kind: 'corrupted'; readonly place: string; readonly detail: string }
  | { readonly id: number; readonly kind: 'unavailable'; readonly reason: string; readonly outcome: 'none' | 'unknown' };

export type WriterMessage =
  /** The log is open for writing, at first or again; `notice` says what was found when it was opened. */
  | { readonly kind: 'up'; readonly head: number; readonly notice?: string }
  /** The log cannot be opened at all. */
  | { readonly kind: 'refused'; readonly place: string; readonly detail: string }
  /** Writing stopped; reads go on. */
  | { readonly kind: 'down'; readonly reason: string }
  /** Answers after one commit, in the order of their positions. */
  | { readonly kind: 'done'; readonly replies: readonly Reply[] }
  | { readonly kind: 'closed' };
