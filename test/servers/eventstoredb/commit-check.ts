import type { RepeatMemory } from './repeat-memory';
import { isSoftDeleted, type StreamState } from './stream-state';

/** Expected revisions that are not one, by the server's own numbers. */
export const NO_STREAM = -1;
export const ANY = -2;
export const STREAM_EXISTS = -4;

/** What the server decides about an append before it writes. */
export type Decision =
  | { readonly kind: 'write' }
  /** Written already; `last` is the revision of the last of these events. */
  | { readonly kind: 'repeat'; readonly last: number }
  | { readonly kind: 'wrongExpectedVersion' }
  | { readonly kind: 'deleted' };

/**
 * `IndexWriter.CheckCommit` of the server, case by case: at `any` and `streamExists` only the memory of late ids is
 * asked; below the current revision each id must stand at its place; at the current revision everything is written,
 * known ids too. A mix that begins with a known id is a wrong expected version.
 */
export const checkCommit = (
  state: StreamState,
  expected: number,
  hasMetadata: boolean,
  ids: readonly string[],
  memory: RepeatMemory,
): Decision => {
  const current = state.events.length - 1;
  if (state.tombstone !== undefined) return { kind: 'deleted' };
  if (expected === STREAM_EXISTS && isSoftDeleted(state)) return { kind: 'deleted' };
  if (expected === STREAM_EXISTS && current < 0 && !hasMetadata) return { kind: 'wrongExpectedVersion' };
  if (expected === ANY || expected === STREAM_EXISTS) return recallCommit(state, ids, memory);
  if (expected > current) return { kind: 'wrongExpectedVersion' };
  if (expected === current) return { kind: 'write' };
  const stranger = ids.findIndex((id, index) => state.events[expected + 1 + index]?.id !== id);
  if (stranger < 0 && ids.length > 0) return { kind: 'repeat', last: expected + ids.length };
  const reopens = stranger === 0 && expected === NO_STREAM && isSoftDeleted(state);
  return { kind: reopens ? 'write' : 'wrongExpectedVersion' };
};

const recallCommit = (state: StreamState, ids: readonly string[], memory: RepeatMemory): Decision => {
  let last: number | undefined;
  for (const id of ids) {
    const written = memory.get(id);
    if (written?.stream !== state.name) return { kind: last === undefined ? 'write' : 'wrongExpectedVersion' };
    last = written.revision;
  }
  return last === undefined ? { kind: 'write' } : { kind: 'repeat', last };
};
