import { randomUUID } from 'node:crypto';
import { ANY, binaryEvent, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import { type Cases, collect, event, type Probe } from './probe';

/** Names, types, sizes and what comes back of an event. */
export const contents = (probe: Probe): Cases => ({
  ...names(probe),
  ...types(probe),
  ...sizes(probe),
  ...comingBack(probe),
});

const names = (probe: Probe): Cases => {
  const streams: readonly (readonly [string, string])[] = [
    ['empty', ''],
    ['with spaces', probe.fresh('a b ')],
    ['German', probe.fresh('größe')],
    ['emoji', probe.fresh('🚀')],
    ['300 characters', probe.fresh() + 'x'.repeat(300)],
    ['5000 characters', probe.fresh() + 'x'.repeat(5000)],
    ['a system stream', `$${probe.fresh()}`],
    ['metadata stream', `$$${probe.fresh()}`],
    ['control character', `${probe.fresh()}\u0001`],
    ['slash and colon', `${probe.fresh()}/a:b`],
  ];
  const append = async (stream: string): Promise<unknown> => {
    const r = await probe.append(stream, event(), ANY);
    return { r, back: (await probe.revisions(stream)).length };
  };
  return Object.fromEntries(
    streams.map(([name, stream]) => [`append to a stream name: ${name}`, () => append(stream)]),
  );
};

const types = (probe: Probe): Cases => {
  const given = { empty: '', system: '$probed', spaces: 'a b', long: 'T'.repeat(3000) };
  const append = async (type: string): Promise<unknown> => {
    const stream = probe.fresh();
    await probe.append(stream, event(undefined, {}, type), ANY);
    return (await collect(probe.client.readStream(stream))).map((resolved) => resolved.event?.type.length);
  };
  return Object.fromEntries(
    Object.entries(given).map(([name, type]) => [`append an event type: ${name}`, () => append(type)]),
  );
};

const big = (kib: number) => binaryEvent({ id: randomUUID(), type: 'Big', data: Buffer.alloc(kib * 1024, 1) });

const sizes = (probe: Probe): Cases => ({
  ...Object.fromEntries(
    [900, 1000, 1023, 1024, 1025, 3000, 5000, 17000].map((kib) => [
      `append one event of ${kib} KiB`,
      () => probe.append(probe.fresh(), big(kib), ANY),
    ]),
  ),
  'append 40 events of 100 KiB at once': () =>
    probe.append(
      probe.fresh(),
      Array.from({ length: 40 }, () => big(100)),
      ANY,
    ),
  'append 5000 small events at once': async () => {
    const stream = probe.fresh();
    const r = await probe.append(
      stream,
      Array.from({ length: 5000 }, (_, i) => event(undefined, { i })),
      NO_STREAM,
    );
    return { r, read: (await collect(probe.client.readStream(stream, { maxCount: 6000 }), 6000)).length };
  },
});

const comingBack = (probe: Probe): Cases => ({
  'JSON data and metadata come back': async () => {
    const data = { ä: '🚀', deep: { a: [1, null, true, 1e21] }, undef: undefined };
    const metadata = { $correlationId: 'c', $causationId: 'k', actor: 'me' };
    const resolved = await appendAndRead(probe, jsonEvent({ id: randomUUID(), type: 'Probed', data, metadata }));
    const recorded = resolved?.event;
    return {
      data: recorded?.data,
      metadata: recorded?.metadata,
      isJson: recorded?.isJson,
      keys: Object.keys(recorded ?? {}).toSorted(),
      resolved: Object.keys(resolved ?? {}).toSorted(),
    };
  },
  'binary data comes back': async () => {
    const resolved = await appendAndRead(
      probe,
      binaryEvent({ id: randomUUID(), type: 'Bin', data: Buffer.from([0, 255, 1]), metadata: Buffer.from([9]) }),
    );
    return { data: resolved?.event?.data, metadata: resolved?.event?.metadata, isJson: resolved?.event?.isJson };
  },
  'an id in upper case comes back as': async () => {
    const id = randomUUID().toUpperCase();
    const resolved = await appendAndRead(probe, event(id));
    return resolved?.event?.id === id.toLowerCase() ? 'lower case' : 'as given';
  },
});

const appendAndRead = async (probe: Probe, given: Parameters<Probe['append']>[1]) => {
  const stream = probe.fresh();
  await probe.append(stream, given, ANY);
  return (await collect(probe.client.readStream(stream)))[0];
};
