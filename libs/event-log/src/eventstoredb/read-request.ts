import { Empty } from '@eventstore/db-client/generated/shared_pb';
import { ReadReq } from '@eventstore/db-client/generated/streams_pb';
import type { Position } from '@app/kernel';
import { streamIdentifier } from './append-request';
import { commitPosition } from './positions';

const { FilterOptions, StreamOptions, AllOptions, UUIDOption } = ReadReq.Options;
type Direction = 'forwards' | 'backwards';

/** More than any stream holds. */
const ALL_EVENTS = Number.MAX_SAFE_INTEGER;

export interface StreamRead {
  readonly direction: Direction;
  /** First revision, inclusive; undefined: from the start or the end. */
  readonly from: number | undefined;
  readonly limit: number;
}

export const streamRequest = (stream: string, { direction, from, limit }: StreamRead): ReadReq => {
  const options = new StreamOptions().setStreamIdentifier(streamIdentifier(stream));
  if (from !== undefined) options.setRevision(String(from));
  else if (direction === 'forwards') options.setStart(new Empty());
  else options.setEnd(new Empty());
  return read(new ReadReq.Options().setStream(options).setNoFilter(new Empty()), direction, limit);
};

/** `$all` but streams of the server's own. Forwards the event at the position comes too, backwards it does not. */
export const allRequest = (direction: Direction, from: Position | null, limit: number): ReadReq =>
  read(new ReadReq.Options().setAll(allFrom(direction, from)).setFilter(withoutSystemStreams()), direction, limit);

/** As `allRequest`, with the server's own streams. */
export const wholeRequest = (direction: Direction, from: Position | null, limit: number): ReadReq =>
  read(new ReadReq.Options().setAll(allFrom(direction, from)).setNoFilter(new Empty()), direction, limit);

/**
 * Subscribes to all events after a position. With prefixes, only to events of those streams, with a progress report now
 * and then, so a later read scans at most a page of foreign events before the next one of ours.
 */
export const subscriptionRequest = (after: Position | null, streamPrefixes?: readonly string[]): ReadReq => {
  const filter = streamPrefixes === undefined ? withoutSystemStreams() : ofStreams(streamPrefixes);
  const options = new ReadReq.Options()
    .setAll(after === null ? new AllOptions().setStart(new Empty()) : at(after))
    .setFilter(filter);
  return request(options.setSubscription(new ReadReq.Options.SubscriptionOptions()));
};

const allFrom = (direction: Direction, from: Position | null): ReadReq.Options.AllOptions => {
  if (from !== null) return at(from);
  return direction === 'forwards' ? new AllOptions().setStart(new Empty()) : new AllOptions().setEnd(new Empty());
};

const at = (position: Position): ReadReq.Options.AllOptions => {
  const commit = commitPosition(position);
  return new AllOptions().setPosition(
    new ReadReq.Options.Position().setCommitPosition(commit).setPreparePosition(commit),
  );
};

/** The server keeps metadata, links and statistics in streams that begin with `$`. */
const withoutSystemStreams = (): ReadReq.Options.FilterOptions =>
  new FilterOptions()
    .setStreamIdentifier(new FilterOptions.Expression().setRegex('^[^$]'))
    .setCount(new Empty())
    .setCheckpointintervalmultiplier(1);

/** The server says how far it has come after so many times 32 events. */
const CHECKPOINT = 16;

const ofStreams = (prefixes: readonly string[]): ReadReq.Options.FilterOptions =>
  new FilterOptions()
    .setStreamIdentifier(new FilterOptions.Expression().setPrefixList([...prefixes]))
    .setCount(new Empty())
    .setCheckpointintervalmultiplier(CHECKPOINT);

const read = (options: ReadReq.Options, direction: Direction, limit: number): ReadReq => {
  const { FORWARDS, BACKWARDS } = ReadReq.Options.ReadDirection;
  return request(
    options
      .setReadDirection(direction === 'forwards' ? FORWARDS : BACKWARDS)
      .setCount(String(Math.min(limit, ALL_EVENTS))),
  );
};

const request = (options: ReadReq.Options): ReadReq =>
  new ReadReq().setOptions(options.setResolveLinks(false).setUuidOption(new UUIDOption().setString(new Empty())));
