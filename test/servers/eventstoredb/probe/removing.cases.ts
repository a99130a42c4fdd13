import { randomUUID } from 'node:crypto';
import { ANY, BACKWARDS, END, NO_STREAM, STREAM_EXISTS } from '@eventstore/db-client';
import { type Cases, collect, event, type Probe } from './probe';

/** Metadata and what it hides. */
export const truncating = (probe: Probe): Cases => {
  const { client } = probe;
  return {
    'metadata of a stream without any': async () => client.getStreamMetadata(await probe.filled()),
    'metadata of a stream that is not there': () => client.getStreamMetadata(probe.fresh()),
    'set maxCount 2, then read': async () => {
      const stream = await probe.filled(5);
      const r = await client.setStreamMetadata(stream, { maxCount: 2 });
      const { metadata } = await client.getStreamMetadata(stream);
      const [revisions, from0] = [await probe.revisions(stream), await probe.revisions(stream, { fromRevision: 0n })];
      return {
        r,
        metadata,
        revisions,
        from0,
        append: await probe.outcome(probe.append(stream, event(), 4n)),
        after: await probe.revisions(stream),
      };
    },
    'set truncateBefore 3, then read': async () => {
      const stream = await probe.filled(5);
      await client.setStreamMetadata(stream, { truncateBefore: 3 });
      const [revisions, from1] = [await probe.revisions(stream), await probe.revisions(stream, { fromRevision: 1n })];
      const backwards = await probe.revisions(stream, { direction: BACKWARDS, fromRevision: END });
      return { revisions, from1, backwards, append: await probe.outcome(probe.append(stream, event(), 4n)) };
    },
    'set truncateBefore beyond the end, then read and append': async () => {
      const stream = await probe.filled(5);
      await client.setStreamMetadata(stream, { truncateBefore: 99 });
      const read = await probe.outcome(probe.revisions(stream));
      const append = await probe.outcome(probe.append(stream, event(), 4n));
      const after = await probe.outcome(probe.revisions(stream));
      return { read, append, after, noStream: await probe.outcome(probe.append(stream, event(), NO_STREAM)) };
    },
    'set metadata, expected revision wrong': async () =>
      client.setStreamMetadata(await probe.filled(), { maxCount: 2 }, { expectedRevision: 3n }),
    'custom metadata comes back': async () => {
      const stream = await probe.filled();
      await client.setStreamMetadata(stream, { maxAge: 60, custom: { a: 1 } });
      return client.getStreamMetadata(stream);
    },
  };
};

/** Deletion, and a stream written again after it. */
export const deleting = (probe: Probe): Cases => {
  const { client } = probe;
  const read = (stream: string): Promise<unknown> => probe.outcome(probe.revisions(stream));
  return {
    'delete, then read and append': async () => {
      const stream = await probe.filled(3);
      const r = await probe.outcome(client.deleteStream(stream));
      const gone = await read(stream);
      const exists = await probe.outcome(probe.append(stream, event(), STREAM_EXISTS));
      const at2 = await probe.outcome(probe.append(stream, event(), 2n));
      const noStream = await probe.outcome(probe.append(stream, event(), NO_STREAM));
      return { r, read: gone, exists, at2, noStream, after: await read(stream) };
    },
    'delete, then append expected no stream': async () => {
      const stream = await probe.filled(3);
      await client.deleteStream(stream);
      return { noStream: await probe.outcome(probe.append(stream, event(), NO_STREAM)), after: await read(stream) };
    },
    'delete, then append expected any': async () => {
      const stream = await probe.filled(3);
      await client.deleteStream(stream);
      return { any: await probe.outcome(probe.append(stream, event(), ANY)), after: await read(stream) };
    },
    'delete, then append the same ids again': async () => {
      const stream = probe.fresh();
      const id = randomUUID();
      await probe.append(stream, event(id), NO_STREAM);
      await client.deleteStream(stream);
      return { again: await probe.outcome(probe.append(stream, event(id), NO_STREAM)), after: await read(stream) };
    },
    'delete a stream that is not there': () => client.deleteStream(probe.fresh()),
    'delete with a wrong expected revision': async () =>
      client.deleteStream(await probe.filled(3), { expectedRevision: 9n }),
    'delete twice': async () => {
      const stream = await probe.filled();
      await client.deleteStream(stream);
      return client.deleteStream(stream);
    },
    'tombstone, then everything': async () => {
      const stream = await probe.filled(3);
      const r = await probe.outcome(client.tombstoneStream(stream));
      const gone = await read(stream);
      const append = await probe.outcome(probe.append(stream, event(), ANY));
      const noStream = await probe.outcome(probe.append(stream, event(), NO_STREAM));
      const again = await probe.outcome(client.tombstoneStream(stream));
      const remove = await probe.outcome(client.deleteStream(stream));
      return {
        r,
        read: gone,
        append,
        noStream,
        again,
        remove,
        metadata: await probe.outcome(client.getStreamMetadata(stream)),
      };
    },
    'deleted events in $all': async () => {
      const stream = await probe.filled(3);
      await client.deleteStream(stream);
      const all = await collect(client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 20 }));
      const own = all.filter(
        (resolved) => resolved.event?.streamId === stream || resolved.event?.streamId === `$$${stream}`,
      );
      return own.map((resolved) => [
        probe.scrub(resolved.event?.streamId),
        resolved.event?.type,
        Number(resolved.event?.revision),
      ]);
    },
  };
};
