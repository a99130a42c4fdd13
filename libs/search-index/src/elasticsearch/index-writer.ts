import { type Position, Unavailable } from '@app/kernel';
import { CheckpointMismatch, Fenced } from '@app/read-store';
import type { Passage, Scope, SearchBatch } from '../search-index';
import { BatchFold, type DocumentChange } from './batch-fold';
import { type RecordWrite, writeRecords } from './bulk-writer';
import { checkpointId, documentKey, type IndexNames, scopeId, vectorField } from './index-names';
import { IndexRecords, type StoredCheckpoint } from './index-records';
import { type DocumentRecord, passageIds, passageRecord, type ScopeRecord } from './records';
import { isRejection, Rejection, type Server } from './server';
import { onVersion, type Versions } from './versions';

/** Give up a longer batch: its last writes must arrive while removals are remembered (`gc_deletes`). */
const LONGEST_BATCH_MS = 10 * 60_000;

/**
 * Applies batches to versions of indexes. The server has no transactions: every record carries its position as external
 * version, so that a batch that broke off is done again without harm, and the checkpoint is written last, by compare-and-set.
 */
export class IndexWriter {
  constructor(
    private readonly server: Server,
    private readonly names: IndexNames,
    private readonly versions: Versions,
  ) {}

  async apply(batch: SearchBatch): Promise<void> {
    try {
      await onVersion(batch.index, batch.version, this.write(batch));
    } catch (error) {
      if (error instanceof Rejection) this.versions.forgetFields(batch.index, batch.version);
      throw error;
    }
  }

  private async write(batch: SearchBatch): Promise<void> {
    const { index, version, slice = 0, changes } = batch;
    const started = performance.now();
    const records = new IndexRecords(this.server, this.names.version(index, version));
    const scopes = removals(changes);
    const mentioned = namesIn(changes);
    const { checkpoint, documents, removedScopes } = await records.read(slice, mentioned);
    assertTurn(batch, checkpoint);
    if (changes.length > 0) {
      if (scopes.size > 0) await this.removeScopes(batch, scopes, records, documents);
      const fold = new BatchFold(documents, removedScopes);
      fold.apply(changes);
      await this.writeChanges(batch, fold.changes, documents, records);
      const late = await this.removeLate(batch, fold.changes, records);
      await this.show(batch, [...fold.changes, ...late], documents, records);
      if (performance.now() - started > LONGEST_BATCH_MS)
        throw new Unavailable('search', 'a batch took too long', 'unknown');
    }
    await this.moveCheckpoint(batch, slice, checkpoint);
  }

  /** Records the removal for every slice, and adds the documents of the scopes to those at hand. */
  private async removeScopes(
    { index, version }: SearchBatch,
    scopes: ReadonlyMap<Scope, Position>,
    records: IndexRecords,
    documents: Map<string, DocumentRecord>,
  ): Promise<void> {
    const writes = [...scopes].map(([scope, at]): RecordWrite => ({
      id: scopeId(scope),
      position: at,
      record: { kind: 'scope', scope, at } satisfies ScopeRecord,
    }));
    await writeRecords(this.server, this.names.writer(index, version), writes);
    await this.versions.refresh(index, version);
    for (const scope of scopes.keys())
      for await (const found of records.inScope(scope))
        if (!documents.has(found.documentId)) documents.set(found.documentId, found);
  }

  /** Removes documents whose scope another slice removed meanwhile. */
  private async removeLate(
    batch: SearchBatch,
    written: readonly DocumentChange[],
    records: IndexRecords,
  ): Promise<readonly DocumentChange[]> {
    const scopes = new Set(written.flatMap(({ record }) => record.scope ?? []));
    const removed = await records.removedScopes([...scopes]);
    const stored = new Map(written.map(({ record }) => [record.documentId, record]));
    const fold = new BatchFold(stored, removed);
    fold.apply([...removed].map(([scope, position]) => ({ position, operations: [{ op: 'removeScope', scope }] })));
    await this.writeChanges(batch, fold.changes, stored, records);
    return fold.changes;
  }

  /**
   * Shows what was written, and only then takes away the passages that it replaces: a search finds the old ones or the new ones, however
   * long that takes and whoever refreshes meanwhile.
   */
  private async show(
    { index, version }: SearchBatch,
    changes: readonly DocumentChange[],
    stored: ReadonlyMap<string, DocumentRecord>,
    records: IndexRecords,
  ): Promise<void> {
    const isLive = await this.versions.isLive(index, version);
    const replaced = new Map(
      changes.flatMap(({ record, passages }) =>
        record.removed || (stored.has(record.documentId) && typeof passages !== 'string')
          ? [[record.documentId, record] as const]
          : [],
      ),
    );
    if (isLive || replaced.size > 0) await this.versions.refresh(index, version);
    const kept = new Set(
      [...replaced.values()].flatMap(({ documentId, document: { present } }) =>
        present === undefined ? [] : passageIds(documentId, present),
      ),
    );
    const left: RecordWrite[] = [];
    for await (const { id, documentId } of records.passageIds([...replaced.keys()])) {
      const position = replaced.get(documentId)?.at;
      if (position !== undefined && !kept.has(id)) left.push({ id, position });
    }
    if (left.length === 0) return;
    await writeRecords(this.server, this.names.writer(index, version), left);
    if (isLive) await this.versions.refresh(index, version);
  }

  private async writeChanges(
    { index, version }: SearchBatch,
    changes: readonly DocumentChange[],
    stored: ReadonlyMap<string, DocumentRecord>,
    records: IndexRecords,
  ): Promise<void> {
    const resolved = await Promise.all(
      changes.map(async (change) => ({ ...change, passages: await passagesOf(change, records) })),
    );
    for (const [field, dimensions] of vectorsOf(resolved))
      await this.versions.declareVectors(index, version, field, dimensions);
    await this.versions.declareCodes(index, version);
    await writeRecords(
      this.server,
      this.names.writer(index, version),
      resolved.flatMap((change) => writesOf(change, stored.get(change.record.documentId))),
    );
  }

  private async moveCheckpoint(
    { index, version, to, fence }: SearchBatch,
    slice: number,
    stored: StoredCheckpoint,
  ): Promise<void> {
    const document = { kind: 'checkpoint', checkpoint: { position: to.position, handled: to.handled, fence } } as const;
    const expected = stored.revision === undefined ? { op_type: 'create' as const } : stored.revision;
    try {
      await this.server.call({ timeoutMs: 30_000, retryMs: 10_000 }, (client, options) =>
        client.index(
          {
            index: this.names.writer(index, version),
            id: checkpointId(slice),
            require_alias: true,
            document,
            ...expected,
          },
          options,
        ),
      );
    } catch (error) {
      if (isRejection(error, 409)) throw new CheckpointMismatch(`index ${index} v${version} was written by another`);
      throw error;
    }
  }
}

const assertTurn = (
  { index, version, from, fence }: SearchBatch,
  { position, fence: stored }: StoredCheckpoint,
): void => {
  if (fence < stored) throw new Fenced(`index ${index} v${version} has a newer writer: fence ${stored}, not ${fence}`);
  if (from !== position)
    throw new CheckpointMismatch(
      `index ${index} v${version} is at ${position ?? 'the start'}, not at ${from ?? 'the start'}`,
    );
};

/** Scopes that a batch removes, each with the position of its last removal. */
const removals = (changes: SearchBatch['changes']): ReadonlyMap<Scope, Position> => {
  const scopes = new Map<Scope, Position>();
  for (const { position, operations } of changes)
    for (const operation of operations) if (operation.op === 'removeScope') scopes.set(operation.scope, position);
  return scopes;
};

/** Documents that a batch names, and scopes that it puts documents into. */
const namesIn = (
  changes: SearchBatch['changes'],
): { readonly documentIds: readonly string[]; readonly scopes: readonly Scope[] } => {
  const documentIds = new Set<string>();
  const scopes = new Set<Scope>();
  for (const { operations } of changes)
    for (const operation of operations) {
      if (operation.op === 'removeScope') continue;
      documentIds.add(operation.op === 'putDocument' ? operation.document.documentId : operation.documentId);
      if (operation.op === 'putDocument') scopes.add(operation.document.scope);
    }
  return { documentIds: [...documentIds], scopes: [...scopes] };
};

interface ResolvedChange extends Omit<DocumentChange, 'passages'> {
  /** Undefined: leave them as they are. */
  readonly passages: readonly Passage[] | undefined;
}

const passagesOf = async (
  { record, passages }: DocumentChange,
  records: IndexRecords,
): Promise<readonly Passage[] | undefined> => {
  if (record.removed) return [];
  if (passages === 'none') return undefined;
  return passages === 'stored' ? (await records.passages([record]))[0] : passages;
};

/**
 * The record of a document that is there is written behind its new passages: until then the ones before are shown. That of another is
 * written before them: if the rest fails, the batch that is done again knows that there may be some.
 */
const writesOf = ({ record, passages }: ResolvedChange, stored: DocumentRecord | undefined): readonly RecordWrite[] => {
  const { documentId, at: position, document } = record;
  const { present } = document;
  const write: RecordWrite = { id: documentKey(documentId), position, record };
  if (passages === undefined || present === undefined) return [write];
  const ids = passageIds(documentId, present);
  const records = passages.map((passage, number): RecordWrite => ({
    id: ids[number] as string,
    position,
    record: passageRecord(documentId, present, passage),
  }));
  return stored?.document.present === undefined ? [write, ...records] : [...records, write];
};

/** Fields of the vectors to write, with their dimensions. */
const vectorsOf = (changes: readonly ResolvedChange[]): ReadonlyMap<string, number> => {
  const fields = new Map<string, number>();
  for (const { record, passages = [] } of changes) {
    const model = record.document.present?.embeddingModel ?? null;
    if (model !== null)
      for (const { vector, enabled } of passages)
        if (vector !== undefined && enabled) fields.set(vectorField(model, vector.length), vector.length);
  }
  return fields;
};
