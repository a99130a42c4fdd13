import type { ServerWritableStream } from '@grpc/grpc-js';
import { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb';
import { AllFeed, StreamFeed } from './feeds';
import { strikes } from './faults';
import { type Filter, filterOf } from './filter';
import { confirm, follow } from './following';
import { encoded, type Recorded, streamIdentifier, streamName } from './recorded-event';
import { drained, fail, isKeptFromAll, refusalOf, type Serving, type ServerVersion } from './serving';
import { accessDenied, handlerThrew, invalidPosition, streamDeleted, unexpectedResult } from './statuses';

type Call = ServerWritableStream<ReadReq, Buffer>;

/** Every read and every subscription. */
export const read = (serving: Serving) => async (call: Call) => {
  const { faults } = serving;
  if (faults.isSilent) return;
  if (faults.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, faults.delayMs));
  const refusal = refusalOf(serving, call.metadata, false);
  const options = call.request?.getOptions();
  if (refusal !== undefined) return fail(call, refusal);
  if (options === undefined || strikes(faults, 'handlerThrows')) return fail(call, handlerThrew);
  if (!options.hasStream() && isKeptFromAll(serving, call.metadata)) return fail(call, accessDenied);
  return options.hasStream() ? readStream(serving, call, options) : readAll(serving, call, options);
};

const readStream = async (serving: Serving, call: Call, options: ReadReq.Options): Promise<void> => {
  const from = options.getStream();
  const stream = streamName(from?.getStreamIdentifier());
  if (stream === '') return fail(call, handlerThrew);
  const seen = serving.log.shown.look(stream);
  const last = seen.kind === 'events' ? seen.events.length - 1 : -1;
  if (options.hasSubscription()) {
    if (seen.kind === 'tombstoned') return fail(call, streamDeleted(stream));
    return followStream(serving, call, stream, from, last);
  }
  const isForwards = options.getReadDirection() === ReadReq.Options.ReadDirection.FORWARDS;
  const count = Number(options.getCount());
  if (count === 0 || (isForwards && from?.hasEnd() === true))
    return fail(call, unexpectedResult('ReadStreamResult', 'Error'));
  if (seen.kind === 'tombstoned') return fail(call, streamDeleted(stream));
  if (seen.kind === 'notFound') {
    call.write(
      encoded(
        new ReadResp().setStreamNotFound(new ReadResp.StreamNotFound().setStreamIdentifier(streamIdentifier(stream))),
      ),
    );
    return void call.end();
  }
  const start = from?.hasRevision() === true ? Number(from.getRevision()) : from?.hasEnd() === true ? last : 0;
  if (isForwards)
    return send(
      call,
      seen.events,
      Math.max(start, seen.first),
      1,
      Math.min(count, last + 1 - Math.max(start, seen.first)),
    );
  return send(call, seen.events, Math.min(start, last), -1, Math.min(count, Math.min(start, last) - seen.first + 1));
};

const followStream = (
  serving: Serving,
  call: Call,
  stream: string,
  from: ReadReq.Options.StreamOptions | undefined,
  last: number,
): Promise<void> => {
  const {
    log: { shown: log },
    version,
  } = serving;
  const revision =
    from?.hasRevision() === true ? Number(from.getRevision()) + 1 : from?.hasEnd() === true ? last + 1 : 0;
  // Version 23 never says that it caught up on a stream that is not there.
  return follow(
    serving,
    call,
    new StreamFeed(log, stream, revision),
    () => version !== '23.10.6' || log.look(stream).kind !== 'notFound',
  );
};

const readAll = async (serving: Serving, call: Call, options: ReadReq.Options): Promise<void> => {
  const {
    log: { shown: log },
    version,
  } = serving;
  const from = options.getAll();
  const given = from?.getPosition();
  if (given !== undefined && BigInt(given.getPreparePosition()) > BigInt(given.getCommitPosition()))
    return fail(call, handlerThrew);
  const filter = filterOf(options);
  if (options.hasSubscription()) {
    const after =
      given === undefined ? (from?.hasEnd() === true ? log.end - 1 : -1) : Number(given.getCommitPosition());
    if (given !== undefined && !log.isRecordStart(after)) return refuseToFollow(call, version);
    return follow(serving, call, new AllFeed(log, after, filter), () => true);
  }
  const count = Number(options.getCount());
  if (count === 0) return; // The server never answers this.
  const position = given === undefined ? (from?.hasEnd() === true ? log.end : 0) : Number(given.getCommitPosition());
  if (!log.isRecordStart(position))
    return fail(call, unexpectedResult('ReadAllResult', version === '23.10.6' ? 'Error' : 'InvalidPosition'));
  const isForwards = options.getReadDirection() === ReadReq.Options.ReadDirection.FORWARDS;
  const start = log.indexFrom(position);
  const accepts = filter && searching(filter, () => serving.faults.searchMs);
  return isForwards
    ? send(call, log.records, start, 1, count, accepts)
    : send(call, log.records, start - 1, -1, count, accepts);
};

/** Version 24 confirms before it finds that there is no such position. */
const refuseToFollow = (call: Call, version: ServerVersion): void => {
  if (version === '23.10.6') return fail(call, handlerThrew);
  confirm(call);
  return fail(call, invalidPosition);
};

/** The server looks through the log a window at a time, and takes its time. */
const searching = ({ accepts, window }: Filter, searchMs: () => number): Accepts => {
  let considered = 0;
  return async (event) => {
    if (searchMs() > 0 && (considered += 1) % window === 0)
      await new Promise((resolve) => setTimeout(resolve, searchMs()));
    return accepts(event);
  };
};

type Accepts = (event: Recorded) => Promise<boolean>;

/** So many events from an index, of those that are accepted, and the end of the call. What is written meanwhile does not come. */
const send = async (
  call: Call,
  events: readonly Recorded[],
  from: number,
  step: 1 | -1,
  count: number,
  accepts?: Accepts,
): Promise<void> => {
  const end = events.length;
  let sent = 0;
  for (let at = from; at >= 0 && at < end && sent < count && !call.destroyed; at += step) {
    const event = events[at];
    if (event === undefined || (accepts !== undefined && !(await accepts(event)))) continue;
    sent += 1;
    if (!call.write(event.reply)) await drained(call);
  }
  call.end();
};
