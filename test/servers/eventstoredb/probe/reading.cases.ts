import {
  ANY,
  BACKWARDS,
  END,
  EventStoreDBClient,
  NO_STREAM,
  type Position,
  type ReadAllOptions,
  type ReadStreamOptions,
  START,
} from '@eventstore/db-client';
import { type Cases, collect, event, type Probe } from './probe';

const READS: Readonly<Record<string, ReadStreamOptions>> = {
  'forwards from start': {},
  'backwards from end': { direction: BACKWARDS, fromRevision: END },
  'from revision 3': { fromRevision: 3n },
  'from revision 99': { fromRevision: 99n },
  'backwards from revision 2': { direction: BACKWARDS, fromRevision: 2n },
  'backwards from revision 99': { direction: BACKWARDS, fromRevision: 99n },
  'forwards from end': { fromRevision: END },
  'backwards from start': { direction: BACKWARDS, fromRevision: START },
  'at most 2': { maxCount: 2 },
  'at most 0': { maxCount: 0 },
  'requires leader': { requiresLeader: true },
};

/** Reading one stream. */
export const readingStreams = (probe: Probe): Cases => {
  const five = probe.filled(5);
  return {
    ...Object.fromEntries(
      Object.entries(READS).map(([name, options]) => [
        `read a stream of 5: ${name}`,
        async () => probe.revisions(await five, options),
      ]),
    ),
    'read a stream that is not there': () => probe.revisions(probe.fresh()),
    'read a stream that is not there, backwards from end': () =>
      probe.revisions(probe.fresh(), { direction: BACKWARDS, fromRevision: END }),
    'read an empty stream name': () => probe.revisions(''),
  };
};

/** Reading `$all`. */
export const readingAll = (probe: Probe): Cases => {
  const { client } = probe;
  const count = (options: ReadAllOptions): Promise<number> =>
    collect(client.readAll(options)).then(({ length }) => length);
  const isOwnAt = async (direction: ReadAllOptions): Promise<boolean> => {
    const stream = probe.fresh();
    const { position } = await probe.append(stream, event(), NO_STREAM);
    const [first] = await collect(client.readAll({ fromPosition: position ?? START, maxCount: 1, ...direction }));
    return first?.event?.streamId === stream;
  };
  return {
    '$all: position of an append is the position read': () => comparePositions(probe),
    '$all: from a position forwards, is the event at it included': () => isOwnAt({}),
    '$all: from a position backwards, is the event at it included': () => isOwnAt({ direction: BACKWARDS }),
    '$all: from a position in the middle of nowhere': () =>
      count({ fromPosition: { commit: 7n, prepare: 7n }, maxCount: 1 }),
    '$all: from a position beyond the end': () =>
      count({ fromPosition: { commit: 10n ** 15n, prepare: 10n ** 15n }, maxCount: 1 }),
    '$all: prepare above commit': () => count({ fromPosition: { commit: 7n, prepare: 8n }, maxCount: 1 }),
    '$all: at most 0': () => probe.within(count({ maxCount: 0 }), 15_000),
    '$all: system events are among the first': async () =>
      (await collect(client.readAll({ maxCount: 20 }), 20)).some((resolved) => resolved.event?.type.startsWith('$')),
  };
};

const comparePositions = async (probe: Probe): Promise<unknown> => {
  const stream = probe.fresh();
  const { position } = await probe.append(stream, [event(), event()], NO_STREAM);
  const read = await collect(probe.client.readStream(stream));
  const all = (await collect(probe.client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 50 }))).filter(
    (resolved) => resolved.event?.streamId === stream,
  );
  const [last, first] = all.map((resolved) => resolved.event);
  return {
    appendEqualsLast: text(position) === text(last?.position),
    appendEqualsFirst: text(position) === text(first?.position),
    firstBeforeLast: (first?.position.commit ?? 0n) < (last?.position.commit ?? 0n),
    streamReadHasPosition: read.map(
      ({ event: own }) =>
        text(own?.position) === text(all.find((resolved) => resolved.event?.id === own?.id)?.event?.position),
    ),
  };
};

const text = (position: Position | undefined): string => `${position?.commit}/${position?.prepare}`;

/** A client that was disposed does not stop another one. */
export const readingAfterDispose = (probe: Probe): Cases => ({
  'read after dispose': async () => {
    const five = await probe.filled(5);
    const client = EventStoreDBClient.connectionString(probe.connection);
    await client.appendToStream(probe.fresh(), event(), { expectedRevision: ANY });
    await client.dispose();
    return (await collect(client.readStream(five))).length;
  },
});
