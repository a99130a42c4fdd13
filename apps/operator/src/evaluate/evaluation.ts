import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Extraction, plainBlocks } from '@app/extraction';
import { nameId, readConfig } from '@app/kernel';
import { embeddedText, type KnowledgeQuery, PASSAGES, passagesOf, readDocument, Retrieval } from '@app/knowledge';
import { Models } from '@app/models';
import { openSqliteSearchIndex, type Passage, type SearchIndex } from '@app/search-index';
import type { Metering } from '@app/spending';
import type { CollectedDocument, Collection } from './collection';
import { DEPTH, meansOf, type Metrics } from './metrics';

/** What is measured, by its name. */
export const WAYS = {
  text: { mode: 'text', rerank: false },
  vector: { mode: 'vector', rerank: false },
  hybrid: { mode: 'hybrid', rerank: false },
  'hybrid + rerank': { mode: 'hybrid', rerank: true },
} as const satisfies Readonly<Record<string, Pick<KnowledgeQuery, 'mode' | 'rerank'>>>;

export interface Evaluation {
  readonly documents: number;
  readonly passages: number;
  readonly queries: number;
  readonly embeddingModel: string;
  readonly rerankerModel: string;
  readonly results: Readonly<Record<keyof typeof WAYS, Metrics>>;
}

/** Contexts that are asked for: a document counts by its best, and may have several. */
const CONTEXTS = 4 * DEPTH;
/** Texts that are embedded in one call. */
const BATCH = 16;
const REVISION = 0;
/** Each document is added by a batch of its own, so that no batch is large. */
const position = (number: number): string => String(number).padStart(9, '0');

/** Nothing is billed: an evaluation belongs to no user, Agent or Space. */
const UNBILLED: Metering = {
  begin: async () => ({
    invocationId: 'evaluation',
    isHeld: false,
    isIncludedUsage: false,
    cancel: () => undefined,
    settle: async () => undefined,
  }),
};

/**
 * Ingests a collection into a temporary folder as the product would, searches it in each mode and measures the
 * rankings. Reports progress to `progress`.
 */
export const evaluate = async (
  collection: Collection,
  environment: Readonly<Record<string, string | undefined>>,
  progress: (sentence: string) => void,
): Promise<Evaluation> => {
  const folder = mkdtempSync(join(tmpdir(), 'evaluate-'));
  const models = Models.open({ ...readConfig({ ...environment, DATA_DIR: folder }), DATA_DIR: folder }, environment);
  const index = await openSqliteSearchIndex({ folder: join(folder, 'search') });
  try {
    const { key } = models.embedding().model;
    const passages = await ingest(collection.documents, models, index, progress);
    const documentIds = new Map(collection.documents.map(({ id }) => [idOf(id), id]));
    const shown = {
      ready: async (ids: readonly string[]) =>
        new Map(ids.map((id) => [id, { revision: REVISION, mediaType: 'text/plain' }])),
      models: async () => [key],
      hasModel: async () => true,
      unready: async () => [],
    };
    const retrieval = new Retrieval(index, shown, { models, metering: UNBILLED });
    const results: Partial<Record<keyof typeof WAYS, Metrics>> = {};
    for (const [way, given] of Object.entries(WAYS) as [keyof typeof WAYS, (typeof WAYS)[keyof typeof WAYS]][]) {
      progress(`Searching by ${way}`);
      const rankings = [];
      for (const { text, relevant } of collection.queries) {
        const { items, degraded } = await retrieval.search(
          { agentId: 'evaluation', spaceId: 'evaluation' },
          { text, limit: CONTEXTS, ...given },
          { userId: 'evaluation', holds: false, signal: new AbortController().signal },
        );
        if (degraded.length > 0) throw new Error(`${degraded.join(' and ')}: the model did not answer.`);
        const best = new Set(items.map(({ documentId }) => documentIds.get(documentId) as string));
        rankings.push({ ranking: [...best].slice(0, DEPTH), relevant });
      }
      results[way] = meansOf(rankings);
    }
    return {
      documents: collection.documents.length,
      passages,
      queries: collection.queries.length,
      embeddingModel: key,
      rerankerModel: models.reranker.key,
      results: results as Evaluation['results'],
    };
  } finally {
    await Promise.all([index.close(), models.close()]);
    rmSync(folder, { recursive: true });
  }
};

const NAMESPACE = '0190b5a0-0000-7000-8000-000000000000';
const idOf = (id: string): string => nameId(NAMESPACE, id);

/** Cuts, embeds and indexes documents; gives the number of their passages. */
const ingest = async (
  documents: readonly CollectedDocument[],
  models: Models,
  index: SearchIndex,
  progress: (sentence: string) => void,
): Promise<number> => {
  await index.prepare(PASSAGES, 1);
  await index.swap(PASSAGES, undefined, 1);
  const { model, provider } = models.embedding();
  let passages = 0;
  for (const [number, { id, title, text }] of documents.entries()) {
    if (number % 500 === 0) progress(`Ingesting document ${number + 1} of ${documents.length}`);
    const documentId = idOf(id);
    const cut = await cutInto(documentId, text === '' ? title : text);
    const embedded: Passage[] = [];
    for (let from = 0; from < cut.length; from += BATCH) {
      const batch = cut.slice(from, from + BATCH);
      const { vectors } = await provider.embed({
        model,
        texts: batch.map((passage) => embeddedText(title, passage)),
        purpose: 'passage',
        signal: new AbortController().signal,
      });
      embedded.push(...batch.map((passage, place) => ({ ...passage, vector: vectors[place] as Float32Array })));
    }
    passages += embedded.length;
    const document = { documentId, name: title, scope: 'g', tagIds: [], revision: REVISION };
    await index.apply({
      index: PASSAGES,
      version: 1,
      from: number === 0 ? null : position(number - 1),
      to: { position: position(number), handled: number + 1 },
      fence: 1,
      changes: [
        {
          position: position(number),
          operations: [{ op: 'putDocument', document: { ...document, embeddingModel: model.key, passages: embedded } }],
        },
      ],
    });
  }
  return passages;
};

/** As a parser gives plain text, whatever its bytes look like. */
const extractionOf = (text: string): Buffer =>
  Buffer.from(JSON.stringify({ text, blocks: plainBlocks(text) } satisfies Extraction));

/** A document without a word has no passages. */
const cutInto = async (documentId: string, text: string): Promise<readonly Passage[]> =>
  text === '' ? [] : passagesOf(documentId, readDocument({ extraction: extractionOf(text) }, null));
