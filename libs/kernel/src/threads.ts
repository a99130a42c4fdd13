/**
 * The parts of the kernel for threads of stores and for processes that read files. No schemas, so they start in
 * milliseconds.
 */
export { BACKGROUND_PRIORITY } from './background';
export { type Json, type Plain, canonicalJson } from './canonical-json';
export { type Erased, ERASED, type Sensitive, isErased, revealed } from './erased';
export {
  type Facts,
  DomainError,
  reject,
  isDomainError,
  Unavailable,
  type Failure,
  SomeFailed,
  AccessDenied,
  isAccessDenied,
  Damaged,
  isDamaged,
  isUnavailable,
  isUndone,
  never,
} from './errors';
export { isUuid } from './ids';
export { type KeyOwner, type KeySelector, type DataKey, dataKeyName, dataKeyPlace, type Keyring } from './keyring';
export {
  type Position,
  type ExpectedRevision,
  type NewEvent,
  type StoredEvent,
  type AppendResult,
  type ReadStreamOptions,
  WrongExpectedRevision,
} from './log-records';
export { isUnstorableText, normalisedName, hasAtMost, isName } from './names';
export { type Place, placeOf, isSamePlace } from './place';
export { inReadScope } from './read-scope';
export { pauseUnlessAborted, settlesWithin, inTime } from './time-limits';
export { startThread, threadEnds } from './thread';
export { type Calls, serveCalls, callHere, callThread } from './thread-calls';
export { countTokens, TokenCount } from './token-count';
export { UNSPACED_LETTERS, UNSPACED, MAYBE_UNSPACED, scriptRuns, neighbouringPairs, wordsOrPairs } from './unspaced';
