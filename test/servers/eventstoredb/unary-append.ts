import type { sendUnaryData, ServerReadableStream } from '@grpc/grpc-js';
import { type AppendReq, AppendResp } from '@eventstore/db-client/generated/streams_pb';
import { Empty } from '@eventstore/db-client/generated/shared_pb';
import { ANY, NO_STREAM, STREAM_EXISTS } from './commit-check';
import { strikes } from './faults';
import { BadMessage, countedSize, proposedOf, TOO_LARGE } from './proposed-message';
import { type Proposed, revisionText, streamName } from './recorded-event';
import { COMMIT_TIMEOUT_MS, refusalOf, type Serving } from './serving';
import type { AnsweredOutcome } from './server-log';
import { type Failure, handlerThrew, maximumSizeExceeded, messageTooLarge, streamDeleted, timedOut } from './statuses';

type Call = ServerReadableStream<AppendReq | typeof TOO_LARGE, AppendResp>;

/** An append on a call of its own: what the client does where the caller brings credentials. */
export const append = (serving: Serving) => (call: Call, reply: sendUnaryData<AppendResp>) => {
  const { faults } = serving;
  const requests: (AppendReq | typeof TOO_LARGE)[] = [];
  const answer = (given: AppendResp | Failure): void => {
    if (faults.isSilent) return;
    setTimeout(() => (given instanceof AppendResp ? reply(null, given) : reply(given)), faults.delayMs);
  };
  call.on('data', (request: AppendReq | typeof TOO_LARGE) => requests.push(request));
  call.on('end', () => {
    const refusal = refusalOf(serving, call.metadata, true);
    if (refusal !== undefined) return answer(refusal);
    if (requests.includes(TOO_LARGE)) return answer(messageTooLarge);
    if (strikes(faults, 'prepareTimeouts')) return answer(timedOut);
    const [isLate, isLost] = [strikes(faults, 'commitTimeouts'), strikes(faults, 'dropAcknowledgements')];
    commit(
      serving,
      requests.filter((request) => request !== TOO_LARGE),
      (given) => (isLate || isLost ? undefined : answer(given)),
    );
    if (isLate) answer(timedOut);
  });
};

const commit = (
  { log, version, maxAppendSize }: Serving,
  requests: readonly AppendReq[],
  answer: (given: AppendResp | Failure) => void,
): void => {
  const options = requests[0]?.getOptions();
  const stream = streamName(options?.getStreamIdentifier());
  if (options === undefined || stream === '') return answer(handlerThrew);
  try {
    const events = requests
      .map((request) => request.getProposedMessage())
      .filter((message) => message !== undefined)
      .map(proposedOf);
    if (sizeOf(events, version) > maxAppendSize) return answer(maximumSizeExceeded(maxAppendSize));
    const expected = expectedOf(options);
    return log.append(stream, expected, events, (outcome) => {
      if (outcome.kind === 'dropped') setTimeout(() => answer(timedOut), COMMIT_TIMEOUT_MS).unref();
      else answer(responseOf(stream, expected, outcome));
    });
  } catch (error) {
    if (error instanceof BadMessage) return answer(handlerThrew);
    throw error;
  }
};

const sizeOf = (events: readonly Proposed[], version: Serving['version']): number =>
  events.reduce((size, event) => size + countedSize(event, version), 0);

/** Deletions name their expected revision in the same way. */
export const expectedOf = (options: {
  hasAny(): boolean;
  hasNoStream(): boolean;
  hasStreamExists(): boolean;
  getRevision(): string;
}): number => {
  if (options.hasAny()) return ANY;
  if (options.hasNoStream()) return NO_STREAM;
  return options.hasStreamExists() ? STREAM_EXISTS : Number(options.getRevision());
};

const responseOf = (stream: string, expected: number, outcome: AnsweredOutcome): AppendResp | Failure => {
  if (outcome.kind === 'deleted') return streamDeleted(stream);
  if (outcome.kind === 'wrongExpectedVersion')
    return new AppendResp().setWrongExpectedVersion(wrongVersion(expected, outcome.current));
  const success = new AppendResp.Success();
  if (outcome.last < 0) success.setNoStream(new Empty());
  else success.setCurrentRevision(String(outcome.last));
  if (outcome.position === null) return new AppendResp().setSuccess(success.setNoPosition(new Empty()));
  const position = String(outcome.position);
  return new AppendResp().setSuccess(
    success.setPosition(new AppendResp.Position().setCommitPosition(position).setPreparePosition(position)),
  );
};

const wrongVersion = (expected: number, current: number): AppendResp.WrongExpectedVersion => {
  const message = new AppendResp.WrongExpectedVersion();
  if (current < 0) message.setCurrentNoStream(new Empty());
  else message.setCurrentRevision(revisionText(current));
  if (expected === ANY) return message.setExpectedAny(new Empty());
  if (expected === STREAM_EXISTS) return message.setExpectedStreamExists(new Empty());
  if (expected === NO_STREAM) return message.setExpectedNoStream(new Empty());
  return message.setExpectedRevision(revisionText(expected));
};
