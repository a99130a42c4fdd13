import type { ServerDuplexStream } from '@grpc/grpc-js';
import { AllStreamPosition, type UUID } from '@eventstore/db-client/generated/shared_pb';
import { type BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb';
import { Empty } from 'google-protobuf/google/protobuf/empty_pb';
import { ANY, NO_STREAM, STREAM_EXISTS } from './commit-check';
import { strikes } from './faults';
import { BadMessage, countedSize, proposedOf, TOO_LARGE, uuidOf } from './proposed-message';
import { type Proposed, streamIdentifier, streamName } from './recorded-event';
import { callerOf, COMMIT_TIMEOUT_MS, fail, type Serving } from './serving';
import type { AnsweredOutcome } from './server-log';
import { batchFailures, handlerThrew, messageTooLarge, notLeader, unavailable, wrongPassword } from './statuses';

type Call = ServerDuplexStream<BatchAppendReq | typeof TOO_LARGE, BatchAppendResp>;

/** An append of which more requests may come. */
interface PendingAppend {
  readonly stream: string;
  readonly expected: number;
  readonly events: Proposed[];
  size: number;
}

/** The call that carries all appends of a client. */
export const batchAppend = (serving: Serving) => (call: Call) => {
  const { faults, users, writeTimeoutMs } = serving;
  const pending = new Map<string, PendingAppend>();
  const caller = callerOf(users, call.metadata);

  const answer = (
    correlation: UUID | undefined,
    stream: string,
    fill: (response: BatchAppendResp) => BatchAppendResp,
  ): void => {
    const send = (): void => {
      if (faults.isSilent || call.cancelled || call.writableEnded) return;
      call.write(
        fill(new BatchAppendResp().setCorrelationId(correlation).setStreamIdentifier(streamIdentifier(stream))),
      );
    };
    if (faults.delayMs > 0) setTimeout(send, faults.delayMs);
    else send();
  };

  /** Rejects an append that is not whole when its time is up. */
  const expireLater = (id: string, correlation: UUID | undefined): void => {
    const append = pending.get(id);
    setTimeout(() => {
      if (append === undefined || pending.get(id) !== append) return;
      pending.delete(id);
      answer(correlation, append.stream, (response) => response.setError(batchFailures.timeout()));
    }, writeTimeoutMs).unref();
  };

  const take = (request: BatchAppendReq): void => {
    const correlation = request.getCorrelationId();
    const options = request.getOptions();
    const id = uuidOf(correlation);
    if (options !== undefined) {
      const stream = streamName(options.getStreamIdentifier());
      const refuse = (error: ReturnType<typeof batchFailures.timeout>): void =>
        answer(correlation, stream, (response) => response.setError(error));
      if (caller === 'anonymous') return refuse(batchFailures.accessDenied());
      if (isOver(options)) return refuse(batchFailures.timeout());
      pending.set(id, { stream, expected: expectedOf(options), events: [], size: 0 });
      if (!request.getIsFinal()) expireLater(id, correlation);
    }
    const append = pending.get(id);
    if (append === undefined) return undefined;
    try {
      for (const message of request.getProposedMessagesList()) {
        const event = proposedOf(message);
        const size = countedSize(event, serving.version);
        if (size > serving.maxEventSize) {
          pending.delete(id);
          return answer(correlation, append.stream, (response) =>
            response.setError(batchFailures.maximumEventSizeExceeded(event.id, size, serving.maxEventSize)),
          );
        }
        append.events.push(event);
        append.size += size;
      }
    } catch (error) {
      // The server answers twice here: now, and again when the time of the append, which it does not forget, is up.
      expireLater(id, correlation);
      throw error;
    }
    if (append.size > serving.maxAppendSize) {
      pending.delete(id);
      return answer(correlation, append.stream, (response) =>
        response.setError(batchFailures.maximumSizeExceeded(serving.maxAppendSize)),
      );
    }
    if (!request.getIsFinal()) return undefined;
    pending.delete(id);
    if (append.stream === '') throw new BadMessage("eventStreamId should not be empty. (Parameter 'eventStreamId')");
    return commit(correlation, append);
  };

  const commit = (correlation: UUID | undefined, { stream, expected, events }: PendingAppend): void => {
    const refuse = (error: ReturnType<typeof batchFailures.timeout>): void =>
      answer(correlation, stream, (response) => response.setError(error));
    if (faults.refusal !== null) return refuse(batchFailures.refused(faults.refusal));
    if (faults.leader !== null) return fail(call, notLeader(faults.leader));
    if (strikes(faults, 'prepareTimeouts')) return refuse(batchFailures.timeout());
    const isThrown = strikes(faults, 'handlerThrows');
    const [isLate, isLost, isTwice] = [
      strikes(faults, 'commitTimeouts'),
      strikes(faults, 'dropAcknowledgements'),
      strikes(faults, 'answerTwice'),
    ];
    serving.log.append(stream, expected, events, (outcome) => {
      if (isThrown) return fail(call, handlerThrew);
      if (isLate || isLost) return;
      if (outcome.kind === 'dropped')
        return void setTimeout(() => refuse(batchFailures.timeout()), COMMIT_TIMEOUT_MS).unref();
      const fill = (response: BatchAppendResp): BatchAppendResp => withOutcome(response, stream, expected, outcome);
      if (isTwice) answer(correlation, stream, fill);
      answer(correlation, stream, fill);
    });
    if (isLate) refuse(batchFailures.timeout());
  };

  if (caller === 'stranger') fail(call, wrongPassword);
  call.on('data', (request: BatchAppendReq | typeof TOO_LARGE) => {
    if (faults.isSilent || call.writableEnded) return;
    if (faults.isUnavailable) return fail(call, unavailable);
    if (request === TOO_LARGE) return fail(call, messageTooLarge);
    try {
      take(request);
    } catch (error) {
      if (!(error instanceof BadMessage)) throw error;
      answer(request.getCorrelationId(), streamName(request.getOptions()?.getStreamIdentifier()), (response) =>
        response.setError(batchFailures.badRequest(error.message)),
      );
    }
  });
  call.on('end', () => call.end());
};

const isOver = (options: BatchAppendReq.Options): boolean =>
  options.hasDeadline() && (options.getDeadline()?.toDate().getTime() ?? 0) <= Date.now();

const expectedOf = (options: BatchAppendReq.Options): number => {
  if (options.hasAny()) return ANY;
  if (options.hasNoStream()) return NO_STREAM;
  return options.hasStreamExists() ? STREAM_EXISTS : Number(options.getStreamPosition());
};

const withOutcome = (
  response: BatchAppendResp,
  stream: string,
  expected: number,
  outcome: AnsweredOutcome,
): BatchAppendResp => {
  if (outcome.kind === 'deleted') return response.setError(batchFailures.streamDeleted(stream));
  if (outcome.kind === 'wrongExpectedVersion')
    return response.setError(batchFailures.wrongExpectedVersion(expected, outcome.current));
  const success = new BatchAppendResp.Success();
  if (outcome.last < 0) success.setNoStream(new Empty());
  else success.setCurrentRevision(String(outcome.last));
  if (outcome.position === null) return response.setSuccess(success.setNoPosition(new Empty()));
  const position = String(outcome.position);
  return response.setSuccess(
    success.setPosition(new AllStreamPosition().setCommitPosition(position).setPreparePosition(position)),
  );
};
