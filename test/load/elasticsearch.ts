import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@elastic/elasticsearch';
import Database from 'better-sqlite3';
import { type Blobs, openFileBlobs } from '@app/blobs';
import { openSqliteEventLog, openSqliteLogReader } from '@app/event-log';
import { defineEvent, EventCatalogue, EventCodec, type Json, type RecordedEvent, systemClock } from '@app/kernel';
import { rebuildWorker, type SearchProjection } from '@app/projecting';
import type { ReadStore } from '@app/read-store';
import { decodePassages, encodePassages, openElasticsearchIndex, type Passage } from '@app/search-index';
import { z } from 'zod';
import { MemoryKeyring } from '../../libs/blobs/src/blobs.contract';
import { schema, vectorMapping } from '../../libs/search-index/src/elasticsearch/index-schema';
import { type Measured, measured, printRatio } from './measured';
import { noteMeta } from './notes';

/**
 * Rebuild of a search view into Elasticsearch: by the product, and by a bare loop that reads the same log, opens the same bodies
 * and sends their passages with the driver's bulk call into an index of the same schema, as many documents at a time.
 * `ELASTICSEARCH_URL` names the server. Prints rates and their ratio.
 */

const URL = process.env['ELASTICSEARCH_URL'] ?? 'http://127.0.0.1:9200';
const DOCUMENTS = Number(process.env['DOCUMENTS'] ?? 300);
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const PASSAGES = 10;
const DIMENSIONS = 512;
const WORDS = 120;
const AT_ONCE = 20;

const Written = defineEvent({
  type: 'DocumentWritten',
  description: 'A document was written.',
  data: z.strictObject({ blob: z.string() }),
});
const view: SearchProjection = {
  kind: 'search',
  name: 'bench',
  version: 1,
  types: ['DocumentWritten'],
  apply: (event) => {
    const { data, context } = event as RecordedEvent<{
      readonly type: 'DocumentWritten';
      readonly data: { readonly blob: string };
    }>;
    return [
      {
        op: 'putDocument',
        documentId: context.stream,
        stream: context.stream,
        name: 'Document',
        scope: 'g',
        tagIds: [],
        revision: 0,
        embeddingModel: 'bench',
        passages: data.blob,
      },
    ];
  },
};

const keyring = new MemoryKeyring();
const codec = new EventCodec(new EventCatalogue([Written]), keyring);
const word = (): string => `${Math.floor(100 * 200 ** Math.random()).toString(26)}7`;

const passage = (ordinal: number): Passage => {
  const text = Array.from({ length: WORDS }, word).join(' ');
  const values = Array.from({ length: DIMENSIONS }, () => Math.random() - 0.5);
  const length = Math.hypot(...values);
  return {
    chunkId: randomUUID(),
    ordinal,
    text,
    headings: ['A heading'],
    start: 0,
    end: text.length,
    enabled: true,
    vector: Float32Array.from(values, (value) => value / length),
  };
};

const fill = async (folder: string, blobs: Blobs): Promise<void> => {
  const log = await openSqliteEventLog({ folder });
  for (let number = 0; number < DOCUMENTS; number += 1) {
    const stream = `document-${number}`;
    const { name } = await blobs.put(
      stream,
      await encodePassages(Array.from({ length: PASSAGES }, (_, ordinal) => passage(ordinal))),
      {},
    );
    await log.append(
      stream,
      await codec.encode(
        stream,
        [{ type: 'DocumentWritten', data: { blob: name } as Record<string, Json> }],
        noteMeta(),
        {},
      ),
      'noStream',
    );
  }
  await log.close();
};

const product = async (folder: string, blobs: Blobs, prefix: string): Promise<Measured> => {
  const log = await openSqliteLogReader({ folder });
  const searchIndex = await openElasticsearchIndex({ url: `${URL}/?prefix=${prefix}` });
  // No event was discarded; a view that is searched has no rows.
  const readStore = { listState: async () => [] } as unknown as ReadStore;
  const worker = rebuildWorker({ readStore, log, searchIndex, blobs, codec, clock: systemClock, projections: [view] });
  await searchIndex.prepare('bench', 1);
  const rate = await measured(DOCUMENTS * PASSAGES, async () => {
    const { outcome, handled } = await worker.build({
      view: 'bench',
      version: 1,
      held: new Map([[0, 1]]),
      shared: false,
      skip: [],
    });
    if (outcome !== 'caught-up' || handled !== DOCUMENTS)
      throw new Error(`the rebuild ended with ${outcome} after ${handled} events`);
  });
  const { documents, passages } = await searchIndex.count('bench', 1);
  if (documents !== DOCUMENTS || passages !== DOCUMENTS * PASSAGES)
    throw new Error(`the index holds ${documents} documents`);
  await searchIndex.close();
  await log.close();
  return rate;
};

const bare = async (folder: string, blobs: Blobs, prefix: string): Promise<Measured> => {
  const source = new Database(join(folder, 'events.sqlite'), { readonly: true });
  const read = source
    .prepare('select position, stream, data from events where position > ? order by position limit ?')
    .raw();
  const client = new Client({ node: URL });
  const index = `${prefix}-bare`;
  await client.indices.create({
    index,
    settings: schema.settings,
    mappings: {
      ...schema.mappings,
      properties: { ...schema.mappings.properties, vector_bare: vectorMapping(DIMENSIONS) },
    },
  });
  const rate = await measured(DOCUMENTS * PASSAGES, async () => {
    for (let after = 0; ;) {
      const page = read.all(after, AT_ONCE) as [number, string, string][];
      if (page.length === 0) break;
      const operations: object[] = [];
      for (const [, stream, text] of page) {
        const body = await blobs.get(stream, (JSON.parse(text) as { blob: string }).blob);
        for (const { chunkId, text: words, headings, vector = [], ...place } of await decodePassages(
          body ?? Buffer.alloc(0),
        ))
          operations.push(
            { index: { _id: chunkId } },
            {
              kind: 'passage',
              documentId: stream,
              chunkId,
              put: '1',
              scope: 'g',
              tagIds: [],
              place,
              name: 'Document',
              headings,
              text: words,
              vector_bare: [...vector],
            },
          );
      }
      const { errors } = await client.bulk({ index, operations });
      if (errors) throw new Error('the bare loop failed');
      after = page.at(-1)?.[0] ?? after;
    }
  });
  source.close();
  await client.close();
  return rate;
};

/** Runs work with indexes of its own. */
const inIndexes = async (work: (prefix: string) => Promise<Measured>): Promise<Measured> => {
  const prefix = `bench-${randomUUID()}`;
  const client = new Client({ node: URL });
  try {
    return await work(prefix);
  } finally {
    for (const index of Object.keys(await client.indices.get({ index: `${prefix}-*` })))
      await client.indices.delete({ index });
    await client.close();
  }
};

const main = async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  try {
    const blobs = await openFileBlobs({ folder: join(folder, 'blobs'), vault: keyring });
    await fill(join(folder, 'log'), blobs);
    const rates = { product: [] as Measured[], bare: [] as Measured[] };
    for (let round = 0; round < ROUNDS; round += 1) {
      rates.bare.push(await inIndexes((prefix) => bare(join(folder, 'log'), blobs, prefix)));
      rates.product.push(await inIndexes((prefix) => product(join(folder, 'log'), blobs, prefix)));
    }
    console.log(
      `rebuild into Elasticsearch of ${DOCUMENTS} documents of ${PASSAGES} passages with ${DIMENSIONS} dimensions, median of ${ROUNDS} rounds`,
    );
    printRatio('passages', { name: 'product', rounds: rates.product }, { name: 'bare bulk loop', rounds: rates.bare });
  } finally {
    rmSync(folder, { recursive: true });
  }
};

void main();
