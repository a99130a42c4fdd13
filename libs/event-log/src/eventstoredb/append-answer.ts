import { type BatchAppendResp } from '@eventstore/db-client/generated/streams_pb';
import { WrongExpectedVersion } from '@eventstore/db-client/generated/shared_pb';
import type { Position } from '@app/kernel';
import { positionText } from './positions';
import { type Fault, rejectionIn, ServerFault } from './server-errors';

/** How the server answers an append. */
export type AppendAnswer =
  /** Written, now or before. Without a position, the events were removed since, or are not readable yet. */
  | { readonly kind: 'stands'; readonly revision: number; readonly position: Position | undefined }
  /** `actual` is -1 for a stream without events. */
  | { readonly kind: 'wrongRevision'; readonly actual: number }
  /** Deleted by other means than ours. */
  | { readonly kind: 'deleted' }
  | { readonly kind: 'tooLarge'; readonly limit: number };

const PACKAGE = 'event_store.client.';
const FAULTS: Readonly<Record<string, Fault>> = { [`${PACKAGE}AccessDenied`]: 'denied', [`${PACKAGE}Timeout`]: 'late' };

/** Throws `ServerFault` for an answer that does not say whether the append is stored. */
export const answerOf = (response: BatchAppendResp): AppendAnswer => {
  const success = response.getSuccess();
  if (success !== undefined) {
    const commit = success.getPosition()?.getCommitPosition();
    return {
      kind: 'stands',
      revision: Number(success.getCurrentRevision()),
      position: commit === undefined ? undefined : positionText(commit),
    };
  }
  const error = response.getError();
  const details = error?.getDetails();
  const type = details?.getTypeName() ?? '';
  switch (type) {
    case `${PACKAGE}WrongExpectedVersion`: {
      const wrong = details?.unpack((bytes) => WrongExpectedVersion.deserializeBinary(bytes), type);
      return {
        kind: 'wrongRevision',
        actual: wrong?.hasCurrentStreamRevision() === true ? Number(wrong.getCurrentStreamRevision()) : -1,
      };
    }
    case `${PACKAGE}StreamDeleted`:
      return { kind: 'deleted' };
    case `${PACKAGE}MaximumAppendSizeExceeded`:
    case `${PACKAGE}MaximumAppendEventSizeExceeded`:
      return { kind: 'tooLarge', limit: limitIn(details) };
    default:
      throw new ServerFault(FAULTS[type] ?? rejectionIn(error?.getMessage() ?? '') ?? 'failed', {
        cause: new Error(error?.getMessage()),
      });
  }
};

/** Fields in which the server names a limit: that of an append, or that of an event, which is told from 25.1 on in a message that the generated ones do not hold. */
const LIMIT_FIELDS: Readonly<Record<string, number>> = {
  [`${PACKAGE}MaximumAppendSizeExceeded`]: 1,
  [`${PACKAGE}MaximumAppendEventSizeExceeded`]: 3,
};
/** The kind of field that is text. */
const TEXT = 2;

/** What a rejection says of itself. */
interface Details {
  getTypeName(): string;
  getValue_asU8(): Uint8Array;
}

/** The limit that a rejection names; 0 where it names none. */
const limitIn = (details: Details | undefined): number => {
  const bytes = details?.getValue_asU8() ?? new Uint8Array();
  const wanted = LIMIT_FIELDS[details?.getTypeName() ?? ''];
  let at = 0;
  const next = (): number => {
    for (let value = 0, place = 1; ; place *= 128) {
      const byte = bytes[(at += 1) - 1] ?? 0;
      value += (byte % 128) * place;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const [tag, value] = [next(), next()];
    if (Math.floor(tag / 8) === wanted) return value;
    if (tag % 8 === TEXT) at += value;
  }
  return 0;
};
