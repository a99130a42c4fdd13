import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Position } from '@app/kernel';
import type { ViewStore } from '../views/view-store';

/** At most this many differences are listed; all are counted. */
const MOST_LISTED = 100;
const PAGE = 1_000;

export interface Difference {
  readonly key: string;
  readonly difference: 'missing' | 'extra' | 'changed';
}

/** A build compared with the live one, both standing at the same position. */
export interface Verification {
  readonly position: Position | null;
  readonly equal: boolean;
  readonly rows: number;
  readonly liveRows: number;
  /** SHA-256 over keys and canonical rows in the order of keys, hex. */
  readonly checksum: string;
  readonly liveChecksum: string;
  readonly differences: number;
  /** The first of them by key: `missing` is in the live build only, `extra` in the new one only. */
  readonly listed: readonly Difference[];
}

interface Entry {
  readonly key: string;
  readonly digest: string;
}

/** Compares two builds row by row. Neither may be written meanwhile. */
export const verify = async (
  store: ViewStore,
  version: number,
  live: number,
  position: Position | null,
): Promise<Verification> => {
  const built = new Side(entries(store, version));
  const served = new Side(entries(store, live));
  const listed: Difference[] = [];
  let differences = 0;
  const differ = (key: string, difference: Difference['difference']): void => {
    differences += 1;
    if (listed.length < MOST_LISTED) listed.push({ key, difference });
  };
  let ours = await built.next();
  let theirs = await served.next();
  while (ours !== undefined || theirs !== undefined) {
    if (theirs === undefined || (ours !== undefined && ours.key < theirs.key)) {
      differ((ours as Entry).key, 'extra');
      ours = await built.next();
    } else if (ours === undefined || theirs.key < ours.key) {
      differ(theirs.key, 'missing');
      theirs = await served.next();
    } else {
      if (ours.digest !== theirs.digest) differ(ours.key, 'changed');
      [ours, theirs] = [await built.next(), await served.next()];
    }
  }
  return {
    position,
    equal: differences === 0,
    rows: built.rows,
    liveRows: served.rows,
    checksum: built.checksum(),
    liveChecksum: served.checksum(),
    differences,
    listed,
  };
};

/** One of the two builds: its entries in the order of keys, counted and hashed as they pass. */
class Side {
  rows = 0;
  private readonly hash = createHash('sha256');

  constructor(private readonly source: AsyncGenerator<Entry, void>) {}

  async next(): Promise<Entry | undefined> {
    const { value } = await this.source.next();
    if (value === undefined) return undefined;
    this.rows += 1;
    this.hash.update(`${value.key}\0${value.digest}\n`);
    return value;
  }

  checksum(): string {
    return this.hash.digest('hex');
  }
}

async function* entries(store: ViewStore, version: number): AsyncGenerator<Entry, void> {
  let after: string | null = null;
  for (;;) {
    const page: readonly Entry[] = await store.digests(version, after, PAGE);
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    await nextTurn();
    after = last.key;
  }
}
