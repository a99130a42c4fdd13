import type { Blobs } from '@app/blobs';
import { allEntries } from '@app/coordination';
import { canonicalJson, type Plain, type RecordedEvent } from '@app/kernel';
import type { ReadStore } from '@app/read-store';
import { decodePassages, searchedPassage, type SearchIndex, type SearchOperation } from '@app/search-index';
import { type DeadLetter, letterJson } from '../dead-letter';
import type { SearchIntent, SearchProjection } from '../projection';
import type { ViewBatch, ViewStore } from './view-store';

const MOST_AT_ONCE = 20;

/**
 * A projection into the search index. An index cannot store dead letters, so the read store does: a new letter is
 * written before the index moves past its event, and a solved one is removed after. A crash in between repeats work but
 * loses nothing.
 */
export class SearchView implements ViewStore<SearchOperation> {
  readonly name: string;
  readonly types: readonly string[];
  readonly declaration: string;
  /** Deletions of Agents and Spaces reach documents of all streams. */
  readonly slices = 1;
  readonly contextOnly = false;
  readonly mostAtOnce: number;

  constructor(
    private readonly projection: SearchProjection,
    private readonly index: SearchIndex,
    private readonly blobs: Blobs,
    private readonly store: ReadStore,
  ) {
    this.name = projection.name;
    this.types = projection.types;
    this.mostAtOnce = projection.mostAtOnce ?? MOST_AT_ONCE;
    this.declaration = canonicalJson({ version: projection.version, types: projection.types.toSorted() });
  }

  operations(event: RecordedEvent): Promise<readonly SearchOperation[]> {
    return Promise.all(this.projection.apply(event).map((intent) => this.resolved(intent)));
  }

  prepare(version: number): Promise<void> {
    return this.index.prepare(this.name, version);
  }

  live(): Promise<number | undefined> {
    return this.index.live(this.name);
  }

  versions(): Promise<readonly number[]> {
    return this.index.versions(this.name);
  }

  swap(from: number | undefined, to: number): Promise<boolean> {
    return this.index.swap(this.name, from, to);
  }

  async drop(version: number): Promise<void> {
    await this.index.drop(this.name, version);
    await this.dropLetters(version);
  }

  async setAside(version: number): Promise<void> {
    await (this.index.setAside?.(this.name, version) ?? this.index.drop(this.name, version));
    await this.dropLetters(version);
  }

  checkpoint(version: number, slice: number) {
    return this.index.checkpoint(this.name, version, slice);
  }

  async letters(version: number): Promise<readonly DeadLetter[]> {
    const entries = await allEntries((options) => this.store.listState(this.lettersOf(version), options));
    return entries.map(({ value }) => value as Plain<DeadLetter>);
  }

  async commit(version: number, { letters, ...batch }: ViewBatch<SearchOperation>): Promise<void> {
    for (const [stream, letter] of letters)
      if (letter !== null) await this.store.writeState(`${this.lettersOf(version)}${stream}`, letterJson(letter));
    await this.index.apply({ ...batch, index: this.name, version });
    for (const [stream, letter] of letters)
      if (letter === null) await this.store.writeState(`${this.lettersOf(version)}${stream}`, null);
  }

  async count(version: number): Promise<number> {
    return (await this.index.count(this.name, version)).documents;
  }

  async digests(version: number, after: string | null, limit: number) {
    const documents = await this.index.scan(this.name, version, after, limit);
    return documents.map(({ documentId, digest }) => ({ key: documentId, digest }));
  }

  async healthy(): Promise<boolean> {
    return (await this.index.health()).ok;
  }

  /** Opens the passages of an intent. If they or the key of their aggregate are gone, the document is not searched. */
  private async resolved(intent: SearchIntent): Promise<SearchOperation> {
    if (intent.op !== 'putDocument') return intent;
    const { op, stream, passages, ...document } = intent;
    if (typeof passages !== 'string') return { op, document: { ...document, passages } };
    const body = await this.blobs.get(stream, passages);
    if (body === undefined) return { op: 'removeDocument', documentId: intent.documentId };
    return { op, document: { ...document, passages: (await decodePassages(body)).map(searchedPassage) } };
  }

  private async dropLetters(version: number): Promise<void> {
    for (const { key } of await allEntries((options) => this.store.listState(this.lettersOf(version), options)))
      await this.store.writeState(key, null);
  }

  private lettersOf(version: number): string {
    return `dead-letter/${this.name}/${version}/`;
  }
}
