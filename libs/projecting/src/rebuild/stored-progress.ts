import { setTimeout as pause } from 'node:timers/promises';
import { lastBefore, type LogReader } from '@app/event-log';
import type { Position, StoredEvent } from '@app/kernel';
import type { BuildRecords } from './rebuild-record';
import { sliceOf } from '../views/slices';
import type { ViewStore } from '../views/view-store';

const PAGE = 500;
/** Read to say how far a build is, at most. */
const PAGES_ASKED = 4;
const FIRST_POLL_MS = 10;
const LONGEST_POLL_MS = 100;

/** Where each slice of a build stands in the store. */
export type Places = readonly (Position | null)[];

/**
 * The progress of a view's builds, from the stored checkpoints and the log: for processes that do not write them. The
 * checkpoint of a slice without events stays behind, so the question is whether there is an event between it and the
 * position.
 */
export class StoredProgress {
  /** The position up to which a build is known to be complete, while its checkpoints do not change. */
  private seen: { readonly build: string; readonly after: Position | null } = { build: '', after: null };

  constructor(
    private readonly store: ViewStore,
    private readonly records: BuildRecords,
    private readonly log: Pick<LogReader, 'readAll'>,
  ) {}

  /** Undefined where the build is not there. */
  async checkpoints(version: number) {
    const slices = await this.records.slices(version);
    const found = await Promise.all(
      Array.from({ length: slices }, (_, slice) => this.store.checkpoint(version, slice)),
    );
    return found.flatMap((checkpoint) => (checkpoint === undefined ? [] : [checkpoint]));
  }

  /** Events handled by all slices of a build. */
  async handled(version: number): Promise<number> {
    return (await this.checkpoints(version)).reduce((sum, { handled }) => sum + handled, 0);
  }

  async places(version: number): Promise<Places> {
    return (await this.checkpoints(version)).map(({ position }) => position);
  }

  /** The oldest event up to a position that a build has not handled; undefined when it shows them all. */
  async missing(version: number, upTo: Position): Promise<StoredEvent | undefined> {
    for await (const event of this.missed(await this.places(version), upTo)) return event;
    return undefined;
  }

  /**
   * `upTo` where a build misses nothing up to there, else the event before the oldest that it misses. No call reads more than a few
   * pages: where they hold nothing that it misses it answers how far they go, and the next call reads on.
   */
  async reached(version: number, upTo: Position): Promise<Position | null> {
    const places = await this.places(version);
    const build = JSON.stringify([version, places]);
    let after = this.seen.build === build ? this.seen.after : leastOf(places);
    for (let read = 0; read < PAGES_ASKED; read += 1) {
      const page = await this.log.readAll({ after, limit: PAGE, filter: { types: this.store.types } });
      const missing = page.events.find((event) => isMissed(event, places));
      if (missing !== undefined && missing.position <= upTo)
        return (await lastBefore(this.log, missing.position))?.position ?? null;
      if (page.end || page.next === null || page.next >= upTo) return upTo;
      after = page.next;
    }
    this.seen = { build, after };
    return after;
  }

  /** True once the build that is served shows everything up to a position, false when it does not within the time. */
  async wait(position: Position, timeoutMs: number): Promise<boolean> {
    const deadline = performance.now() + timeoutMs;
    while (performance.now() < deadline) {
      const version = await this.store.live();
      if (version !== undefined && (await this.passed(version, await this.awaited(version, position), deadline)))
        return true;
      if (version === undefined) await pause(LONGEST_POLL_MS);
    }
    return false;
  }

  /** How far slices must come that have not handled everything up to a position. */
  private async awaited(version: number, upTo: Position): Promise<ReadonlyMap<number, Position>> {
    const places = await this.places(version);
    const awaited = new Map<number, Position>();
    for await (const { stream, position } of this.missed(places, upTo))
      awaited.set(sliceOf(stream, places.length), position);
    return awaited;
  }

  /** True once these slices have come so far; false when the time is up or another build is served. */
  private async passed(version: number, awaited: ReadonlyMap<number, Position>, deadline: number): Promise<boolean> {
    const left = new Map(awaited);
    for (let poll = FIRST_POLL_MS; left.size > 0; poll = Math.min(LONGEST_POLL_MS, poll * 2)) {
      await pause(poll);
      for (const [slice, position] of left) {
        const place = (await this.store.checkpoint(version, slice))?.position ?? null;
        if (place !== null && place >= position) left.delete(slice);
      }
      if (left.size > 0 && (performance.now() > deadline || (await this.store.live()) !== version)) return false;
    }
    return true;
  }

  /** The events up to a position that the slices of a build have not handled, in order. */
  private async *missed(places: Places, upTo: Position): AsyncGenerator<StoredEvent, void> {
    for (let after = leastOf(places); after === null || after < upTo;) {
      const page = await this.log.readAll({ after, limit: PAGE, filter: { types: this.store.types } });
      for (const event of page.events) {
        if (event.position > upTo) return;
        if (isMissed(event, places)) yield event;
      }
      if (page.end || page.next === null) return;
      after = page.next;
    }
  }
}

const isMissed = ({ stream, position }: StoredEvent, places: Places): boolean => {
  const place = places[sliceOf(stream, places.length)];
  return place === null || place === undefined || position > place;
};

const leastOf = (places: Places): Position | null => (places.includes(null) ? null : (places.toSorted()[0] ?? null));
