import { type BatchAppendResp } from '@eventstore/db-client/generated/streams_pb';
import { MaximumAppendSizeExceeded, WrongExpectedVersion } from '@eventstore/db-client/generated/shared_pb';
import type { Position } from '@app/kernel';
import { positionText } from './positions';
import { type Fault, ServerFault } from './server-errors';

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
    case `${PACKAGE}MaximumAppendSizeExceeded`: {
      const exceeded = details?.unpack((bytes) => MaximumAppendSizeExceeded.deserializeBinary(bytes), type);
      return { kind: 'tooLarge', limit: exceeded?.getMaxappendsize() ?? 0 };
    }
    default:
      throw new ServerFault(FAULTS[type] ?? faultOfMessage(error?.getMessage() ?? ''), {
        cause: new Error(error?.getMessage()),
      });
  }
};

const faultOfMessage = (message: string): Fault =>
  /Not Ready|Is Busy|No leader info/.test(message) ? 'notReady' : 'failed';
