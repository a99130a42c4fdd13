import type { ExpectedRevision, NewEvent } from '@app/kernel';

/** Messages between the log's main thread and its writer thread. Requests of one tick share one packed message. */
export type WriterRequest = AppendRequest | RemovalRequest | CloseRequest;

export interface AppendRequest {
  readonly kind: 'append';
  readonly id: number;
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly NewEvent[];
  /** Approximate UTF-8 bytes of the events, which bound the size of a commit. */
  readonly bytes: number;
}

/** Removes the events of a stream below a revision; `undefined`: all that exist when it begins. */
export interface RemovalRequest {
  readonly kind: 'removal';
  readonly id: number;
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly before: number | undefined;
}

export interface CloseRequest {
  readonly kind: 'close';
}

export type Reply =
  | {
      readonly id: number;
      readonly kind: 'appended' | 'repeated';
      readonly position: number;
      readonly revision: number;
    }
  /** Events below this revision are removed. */
  | { readonly id: number; readonly kind: 'removed'; readonly before: number }
  | { readonly id: number; readonly kind: 'wrongRevision'; readonly actual: number }
  | { readonly id: number; readonly kind: 'mixed' }
  | { readonly id: number; readonly kind: 'corrupted'; readonly place: string; readonly detail: string }
  | {
      readonly id: number;
      readonly kind: 'unavailable';
      readonly reason: string;
      readonly outcome: 'none' | 'unknown';
    };

export type WriterMessage =
  /** The log is open for writing, at first or again, and its index known up to a position; `notice` says what was found. */
  | { readonly kind: 'up'; readonly head: number; readonly indexed: number; readonly notice?: string }
  /** The index of streams has reached a position. */
  | { readonly kind: 'indexed'; readonly upTo: number }
  /** The log cannot be opened: it is damaged at a place, or without one for another reason. */
  | { readonly kind: 'rejected'; readonly place?: string; readonly detail: string }
  /** Writing stopped; reads go on. */
  | { readonly kind: 'down'; readonly reason: string }
  /** Answers of one commit, ordered by position. */
  | { readonly kind: 'done'; readonly replies: Packed }
  | { readonly kind: 'closed' };

/** Requests or replies as one flat list of values: copying it between threads costs a fifth of copying objects. */
export type Packed = readonly (string | number)[];

export const packRequests = (requests: readonly WriterRequest[]): Packed => {
  const packed: (string | number)[] = [];
  for (const request of requests) {
    if (request.kind === 'close') packed.push(request.kind);
    else if (request.kind === 'removal')
      packed.push(request.kind, request.id, request.stream, request.expected, request.before ?? -1);
    else {
      packed.push(request.kind, request.id, request.stream, request.expected, request.bytes, request.events.length);
      for (const { id, type, data, metadata } of request.events) packed.push(id, type, data, metadata);
    }
  }
  return packed;
};

export const unpackRequests = (packed: Packed): WriterRequest[] => {
  const requests: WriterRequest[] = [];
  let at = 0;
  const next = <T extends string | number>(): T => packed[at++] as T;
  while (at < packed.length) {
    const kind = next<WriterRequest['kind']>();
    if (kind === 'close') requests.push({ kind });
    else if (kind === 'removal') {
      const [id, stream, expected, before] = [next<number>(), next<string>(), next<ExpectedRevision>(), next<number>()];
      requests.push({ kind, id, stream, expected, before: before < 0 ? undefined : before });
    } else {
      const [id, stream, expected, bytes, count] = [
        next<number>(),
        next<string>(),
        next<ExpectedRevision>(),
        next<number>(),
        next<number>(),
      ];
      const events: NewEvent[] = [];
      for (let index = 0; index < count; index += 1)
        events.push({ id: next(), type: next(), data: next(), metadata: next() });
      requests.push({ kind, id, stream, expected, bytes, events });
    }
  }
  return requests;
};

export const packReplies = (replies: readonly Reply[]): Packed => {
  const packed: (string | number)[] = [];
  for (const reply of replies) {
    packed.push(reply.kind, reply.id);
    if (reply.kind === 'appended' || reply.kind === 'repeated') packed.push(reply.position, reply.revision);
    else if (reply.kind === 'removed') packed.push(reply.before);
    else if (reply.kind === 'wrongRevision') packed.push(reply.actual);
    else if (reply.kind === 'corrupted') packed.push(reply.place, reply.detail);
    else if (reply.kind === 'unavailable') packed.push(reply.reason, reply.outcome);
  }
  return packed;
};

/** Calls `each` with each reply. */
export const unpackReplies = (packed: Packed, each: (reply: Reply) => void): void => {
  let at = 0;
  const next = <T extends string | number>(): T => packed[at++] as T;
  while (at < packed.length) {
    const kind = next<Reply['kind']>();
    const id = next<number>();
    if (kind === 'appended' || kind === 'repeated') each({ kind, id, position: next(), revision: next() });
    else if (kind === 'removed') each({ kind, id, before: next() });
    else if (kind === 'wrongRevision') each({ kind, id, actual: next() });
    else if (kind === 'mixed') each({ kind, id });
    else if (kind === 'corrupted') each({ kind, id, place: next(), detail: next() });
    else each({ kind, id, reason: next(), outcome: next() });
  }
};
