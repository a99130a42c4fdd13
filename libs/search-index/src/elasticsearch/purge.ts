import { setTimeout as pause } from 'node:timers/promises';
import { Unavailable } from '@app/kernel';
import type { estypes } from '@elastic/elasticsearch';
import { CLOSED_INDEX, type CallOptions, hasClosed, type Server } from './server';

const STATS: CallOptions = { timeoutMs: 10_000, retryMs: 10_000 };
const MERGE: CallOptions = { timeoutMs: 600_000, retryMs: 10_000 };
const POLL_MS = 250;
/** Three times the longest time that copies take to report what they have seen. */
const LONGEST_WAIT_MS = 90_000;

/** A copy of a shard. */
interface Copy extends estypes.IndicesStatsShardStats {
  readonly index: string;
}

/**
 * Takes removed content off the disk of some indexes: out of the write-ahead log, which a flush ends, and out of the segments,
 * which a merge writes anew. A merge keeps what a copy of the index may still ask for, and copies say only every 30 s what
 * they have seen (a setting that the server does not offer), so this may take as long. Throws `Unavailable` where a copy is away, or an
 * index has none at hand: the server passes that over, and its content stands on a disk all the same.
 */
export const purge = async (server: Server, index: string): Promise<void> => {
  await assertAtHand(server, index);
  await server.call(MERGE, (client, options) => client.indices.refresh({ index }, options));
  const loose = (await copies(server, index)).filter(({ docs }) => (docs?.deleted ?? 0) > 0);
  const removed = new Map(loose.map((copy) => [copy.index, copy.seq_no?.max_seq_no ?? 0]));
  await flush(server, index);
  if (removed.size === 0) return;
  for (let waited = 0; !(await areReleased(server, index, removed)); waited += POLL_MS) {
    if (waited >= LONGEST_WAIT_MS)
      throw new Unavailable('search', 'a copy of an index is away, so that removed content cannot be purged yet');
    await pause(POLL_MS);
  }
  // The merge relies on what the last flush recorded of the copies.
  await flush(server, index);
  await server.call(MERGE, (client, options) =>
    client.indices.forcemerge({ index, only_expunge_deletes: true }, options),
  );
  await assertAtHand(server, index);
};

/** Throws `Unavailable` where an index is closed or has no copy that works. */
const assertAtHand = async (server: Server, index: string): Promise<void> => {
  const { status } = await server.call(STATS, (client, options) => client.cluster.health({ index }, options));
  if (status === 'red')
    throw new Unavailable('search', 'an index is away, so that removed content cannot be purged yet');
  if (await hasClosed(server, STATS, index)) throw new Unavailable('search', CLOSED_INDEX);
};

const flush = (server: Server, index: string): Promise<unknown> =>
  server.call(MERGE, (client, options) => client.indices.flush({ index, force: true, wait_if_ongoing: true }, options));

/** True if nothing up to these changes is held for a copy any more. A dropped index holds nothing. */
const areReleased = async (server: Server, index: string, removed: ReadonlyMap<string, number>): Promise<boolean> =>
  (await copies(server, index)).every((copy) =>
    (copy.retention_leases?.leases ?? []).every(
      ({ retaining_seq_no }) => retaining_seq_no > (removed.get(copy.index) ?? -1),
    ),
  );

const copies = async (server: Server, index: string): Promise<readonly Copy[]> => {
  const { indices = {} } = await server.call(STATS, (client, options) =>
    client.indices.stats({ index, level: 'shards', metric: 'docs' }, options),
  );
  return Object.entries(indices).flatMap(([name, { shards = {} }]) =>
    Object.values(shards)
      .flat()
      .map((copy) => ({ ...copy, index: name })),
  );
};
