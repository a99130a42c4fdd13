import { randomUUID } from 'node:crypto';
import { ReadResp } from '@eventstore/db-client/generated/streams_pb';
import { ANY } from './commit-check';
import type { Proposed, Recorded } from './recorded-event';
import type { ServerLog } from './server-log';

const LINK = '$>';
/** A link to a stream rather than to an event. */
const REFERENCE = '$@';
/** How many events lie between two of the statistics that a server writes. */
const STATISTICS_EVERY = 50;

/**
 * Writes what the server's standard projections do of each event that is shown: links in `$ce-`, `$et-`, `$bc-` and `$streams`, references in
 * `$category-`, where they stand and what they did; and statistics now and then. They come a little later, between other events.
 */
export const runStandardProjections = (log: ServerLog): void => {
  let next = log.shown.records.length;
  let isWaiting = false;
  let projected = 0;
  const emit = (stream: string, type: string, data: string, cause: Recorded): void => {
    const metadata = JSON.stringify({ $v: '2:-1:1:4', $c: cause.position, $p: cause.position, $causedBy: cause.id });
    log.append(stream, ANY, [system(type, data, metadata)], () => undefined);
  };
  const project = (event: Recorded): void => {
    const place = `${event.revision}@${event.stream}`;
    const category = /^([^-]+)-/.exec(event.stream)?.[1];
    const correlation = correlationOf(event);
    if (category !== undefined) emit(`$ce-${category}`, LINK, place, event);
    emit(`$et-${event.type}`, LINK, place, event);
    if (correlation !== undefined) emit(`$bc-${correlation}`, LINK, place, event);
    if (event.revision === 0) emit('$streams', LINK, place, event);
    if (event.revision === 0 && category !== undefined) emit(`$category-${category}`, REFERENCE, event.stream, event);
    projected += 1;
    if (projected % STATISTICS_EVERY === 1) emit('$stats-127.0.0.1:2113', '$statsCollected', '{"proc-mem":1}', event);
  };
  const catchUp = (): void => {
    isWaiting = false;
    for (let event = log.shown.records[next]; event !== undefined; event = log.shown.records[next]) {
      next += 1;
      if (!event.stream.startsWith('$') && event.type !== LINK) project(event);
    }
    emitCheckpoint();
  };
  const emitCheckpoint = (): void => {
    const last = log.shown.records.at(-1);
    if (last !== undefined && !last.stream.startsWith('$projections-'))
      emit('$projections-$by_category-checkpoint', '$ProjectionCheckpoint', `{"$c":${last.position}}`, last);
  };
  log.shown.watchers.add(() => {
    if (isWaiting || log.shown.records.slice(next).every(({ stream }) => stream.startsWith('$'))) return;
    isWaiting = true;
    setImmediate(catchUp);
  });
};

const system = (type: string, data: string, metadata: string): Proposed => ({
  id: randomUUID(),
  type,
  isJson: type !== LINK && type !== REFERENCE,
  data: Buffer.from(data),
  metadata: Buffer.from(metadata),
});

/** What is no JSON has no correlation. */
const correlationOf = ({ reply }: Recorded): string | undefined => {
  const metadata = ReadResp.deserializeBinary(reply).getEvent()?.getEvent()?.getCustomMetadata_asU8() ?? [];
  try {
    const id = (JSON.parse(Buffer.from(metadata).toString()) as { readonly $correlationId?: unknown } | null)
      ?.$correlationId;
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
};
