import {
  ANY,
  END,
  eventTypeFilter,
  NO_STREAM,
  START,
  streamNameFilter,
  type SubscribeToAllOptions,
} from '@eventstore/db-client';
import { type Cases, event, type Heard, type Listening, type Probe } from './probe';

/** Subscriptions to one stream. */
export const subscribingToStreams = (probe: Probe): Cases => {
  const { client } = probe;
  const two = () => [event(), event()];
  return {
    'subscribe to a stream of 3 from start, 2 appended after caught up': async () => {
      const stream = await probe.filled(3);
      return probe.listen(client.subscribeToStream(stream, { fromRevision: START }), 5, {
        onCaughtUp: () => probe.append(stream, two(), ANY),
      });
    },
    'subscribe to a stream of 5 from revision 2': async () =>
      probe.listen(client.subscribeToStream(await probe.filled(5), { fromRevision: 2n }), 2, { ms: 3000 }),
    'subscribe to a stream of 3 from end, 1 appended': async () => {
      const stream = await probe.filled(3);
      return probe.listen(client.subscribeToStream(stream, { fromRevision: END }), 1, {
        onCaughtUp: () => probe.append(stream, event(), ANY),
      });
    },
    'subscribe to a stream that is not there, then created after 1 s': async () => {
      const stream = probe.fresh();
      const subscription = client.subscribeToStream(stream);
      subscription.once('confirmation', () => void probe.pause(1000).then(() => probe.append(stream, event(), ANY)));
      return probe.listen(subscription, 1, { ms: 4000 });
    },
    'subscribe to a stream that is deleted meanwhile and written again': async () => {
      const stream = await probe.filled(2);
      const rewrite = () => client.deleteStream(stream).then(() => probe.append(stream, event(), ANY));
      return probe.listen(client.subscribeToStream(stream), 3, { ms: 4000, onCaughtUp: rewrite });
    },
    'subscribe to a stream that is tombstoned meanwhile': async () => {
      const stream = await probe.filled(2);
      return probe.listen(client.subscribeToStream(stream), 9, {
        ms: 4000,
        onCaughtUp: () => client.tombstoneStream(stream),
      });
    },
    'subscribe to a tombstoned stream': async () => {
      const stream = await probe.filled(2);
      await client.tombstoneStream(stream);
      return probe.listen(client.subscribeToStream(stream), 9, { ms: 3000 });
    },
    'subscribe to a truncated stream from start': async () => {
      const stream = await probe.filled(5);
      await client.setStreamMetadata(stream, { truncateBefore: 3 });
      return probe.listen(client.subscribeToStream(stream), 2, { ms: 3000 });
    },
  };
};

/** Subscriptions to `$all`, filtered or not. */
export const subscribingToAll = (probe: Probe): Cases => {
  const from = async (options: SubscribeToAllOptions, wanted: number, listening: Listening): Promise<Heard> => {
    const { position } = await probe.append(probe.fresh(), event(), NO_STREAM);
    const subscription = probe.client.subscribeToAll({ fromPosition: position ?? START, ...options });
    return probe.listen(subscription, wanted, listening);
  };
  return {
    'subscribe to $all from the position of the last append (is it included)': () =>
      from({}, 1, { ms: 3000, isQuiet: true }),
    'subscribe to $all from a position, 3 appended after caught up': () =>
      from({}, 3, { onCaughtUp: () => probe.append(probe.fresh(), [event(), event(), event()], NO_STREAM) }),
    'subscribe to $all filtered by stream prefix': () => {
      const [wanted, other] = [probe.fresh('f'), probe.fresh('g')];
      const onCaughtUp = () =>
        probe.append(other, [event(), event()], ANY).then(() => probe.append(wanted, [event(), event()], ANY));
      return from({ filter: streamNameFilter({ prefixes: [wanted] }) }, 2, { onCaughtUp });
    },
    'subscribe to $all filtered by event type prefix': () => {
      const stream = probe.fresh();
      const onCaughtUp = () =>
        probe
          .append(stream, [event(), event()], ANY)
          .then(() => probe.append(stream, event(undefined, {}, 'WantedOne'), ANY));
      return from({ filter: eventTypeFilter({ prefixes: ['Wanted'] }) }, 1, { onCaughtUp });
    },
    'subscribe to $all filtered by event type regex': () => {
      const events = [event(), event(undefined, {}, 'Wanted'), event(undefined, {}, 'Other')];
      return from({ filter: eventTypeFilter({ regex: '^(Wanted|Other)$' }) }, 2, {
        onCaughtUp: () => probe.append(probe.fresh(), events, ANY),
      });
    },
    'filtered $all: checkpoints reached while nothing matches': () => checkpoints(probe),
    'caught up comes before or after the last old event': async () => {
      const { log } = await probe.listen(probe.client.subscribeToStream(await probe.filled(50)), 50, { ms: 3000 });
      return { kinds: log.map(([kind]) => kind).filter((kind, index, all) => kind !== all[index - 1]) };
    },
    'subscribe from a position in the middle of nowhere': async () => {
      const { log } = await probe.listen(
        probe.client.subscribeToAll({ fromPosition: { commit: 7n, prepare: 7n } }),
        1,
        { ms: 3000 },
      );
      return log.filter(([kind]) => kind !== 'event').slice(0, 3);
    },
  };
};

const checkpoints = async (probe: Probe): Promise<unknown> => {
  let reached = 0;
  const { position } = await probe.append(probe.fresh(), event(), NO_STREAM);
  const checkpointReached = async (): Promise<void> => void (reached += 1);
  const filter = eventTypeFilter({
    prefixes: ['Never'],
    maxSearchWindow: 32,
    checkpointInterval: 1,
    checkpointReached,
  });
  const subscription = probe.client.subscribeToAll({ fromPosition: position ?? START, filter });
  subscription.on('data', () => undefined).on('error', () => undefined);
  await probe.pause(500);
  const before = reached;
  for (let i = 0; i < 4; i += 1)
    await probe.append(
      probe.fresh(),
      Array.from({ length: 100 }, () => event()),
      NO_STREAM,
    );
  await probe.until(() => reached > before, 1500);
  await subscription.unsubscribe();
  return { some: reached > before };
};
