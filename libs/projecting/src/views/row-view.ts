import { createHash } from 'node:crypto';
import { canonicalJson, type Json, type Plain, type RecordedEvent } from '@app/kernel';
import type { Operation, ReadStore } from '@app/read-store';
import { type DeadLetter, letterJson } from '../dead-letter';
import type { RowProjection } from '../projection';
import { SHARED_SLICES } from './slices';
import type { ViewBatch, ViewStore } from './view-store';

/** `shared` as of `viewStore`. */
export const rowView = (projection: RowProjection, store: ReadStore, shared: boolean): ViewStore =>
  // Its operations come back to it alone.
  new RowView(projection, store, shared && projection.perStream === true ? SHARED_SLICES : 1) as ViewStore;

const LETTER = 'dead-letter/';

/** A projection over the read store: rows, checkpoint and dead letters commit together. */
export class RowView implements ViewStore<Operation> {
  readonly name: string;
  readonly types: readonly string[];
  readonly declaration: string;
  readonly contextOnly: boolean;
  readonly mostAtOnce: number;

  constructor(
    private readonly projection: RowProjection,
    private readonly store: ReadStore,
    readonly slices: number,
  ) {
    const { name, version, types, indexes } = projection;
    this.name = name;
    this.types = types;
    this.contextOnly = projection.contextOnly === true;
    this.mostAtOnce = store.mostAtOnce;
    this.declaration = canonicalJson({
      version,
      types: types.toSorted(),
      indexes,
      ...(slices === 1 ? {} : { slices }),
      ...(store.rowFormat === undefined ? {} : { rows: store.rowFormat }),
    });
  }

  operations(event: RecordedEvent): readonly Operation[] {
    return this.projection.apply(event);
  }

  prepare(version: number): Promise<void> {
    const { indexes, row } = this.projection;
    return this.store.prepare({ name: this.name, version, indexes, row });
  }

  live(): Promise<number | undefined> {
    return this.store.live(this.name);
  }

  versions(): Promise<readonly number[]> {
    return this.store.versions(this.name);
  }

  swap(from: number | undefined, to: number): Promise<boolean> {
    return this.store.swap(this.name, from, to);
  }

  drop(version: number): Promise<void> {
    return this.store.drop(this.name, version);
  }

  setAside(version: number): Promise<void> {
    return this.store.setAside?.(this.name, version) ?? this.drop(version);
  }

  checkpoint(version: number, slice: number) {
    return this.store.checkpoint(this.name, version, slice);
  }

  async letters(version: number): Promise<readonly DeadLetter[]> {
    const state = await this.store.viewState(this.name, version);
    return state.filter(({ key }) => key.startsWith(LETTER)).map(({ value }) => value as Plain<DeadLetter>);
  }

  async commit(version: number, batch: ViewBatch<Operation>): Promise<void> {
    const { letters, ...rest } = batch;
    const state: Record<string, Json | null> = {};
    for (const [stream, letter] of letters) state[`${LETTER}${stream}`] = letterJson(letter);
    await this.store.commit({ ...rest, view: this.name, version, ...(letters.size === 0 ? {} : { state }) });
  }

  count(version: number): Promise<number> {
    return this.store.count(this.name, {}, version);
  }

  async digests(version: number, after: string | null, limit: number) {
    const rows = await this.store.scan(this.name, version, after, limit);
    return rows.map(({ key, row }) => ({
      key,
      digest: createHash('sha256').update(canonicalJson(row)).digest('base64url'),
    }));
  }

  async healthy(): Promise<boolean> {
    return (await this.store.health()).ok;
  }
}
