import { documentDigest, type SearchIndex } from '../search-index';
import { IndexNames } from './index-names';
import { IndexReader } from './index-reader';
import { IndexRecords } from './index-records';
import { IndexWriter } from './index-writer';
import { purge } from './purge';
import { Server } from './server';
import { Versions } from './versions';

export interface ElasticsearchIndexOptions {
  /** `http(s)://USER:PASSWORD@HOST:PORT?prefix=NAME`. What the names of indexes and aliases begin with: lower-case letters, digits and dashes, `platform` by default. */
  readonly url: string;
}

/**
 * Search on Elasticsearch 9: an index per version, an alias for the live one. Opens without asking the server, which may come
 * later; until it answers, everything is `Unavailable`.
 */
export const openElasticsearchIndex = async ({ url }: ElasticsearchIndexOptions): Promise<SearchIndex> => {
  // Load the driver here, so that an embedded product never pays for it.
  const { Client } = require('@elastic/elasticsearch') as typeof import('@elastic/elasticsearch');
  const node = new URL(url);
  const prefix = node.searchParams.get('prefix') ?? 'platform';
  node.search = '';
  // Each call has its own deadline and retries.
  const server = new Server(new Client({ node: node.href, maxRetries: 0 }));
  const names = new IndexNames(prefix);
  const versions = new Versions(server, names);
  const writer = new IndexWriter(server, names, versions);
  const records = (index: string, version: number): IndexRecords =>
    new IndexRecords(server, names.version(index, version));
  return {
    prepare: (index, version) => versions.prepare(index, version),
    live: (index) => versions.live(index),
    versions: (index) => versions.versions(index),
    swap: (index, from, to) => versions.swap(index, from, to),
    drop: (index, version) => versions.drop(index, version),
    checkpoint: (index, version, slice = 0) => records(index, version).checkpoint(slice),
    apply: (batch) => writer.apply(batch),
    search: (index, query) => new IndexReader(server, names.alias(index), index).search(query),
    scopesWith: (index, query) => new IndexReader(server, names.alias(index), index).scopesWith(query),
    revisionOf: (index, documentId) => new IndexReader(server, names.alias(index), index).revisionOf(documentId),
    count: async (index, version) => {
      await versions.refresh(index, version);
      return records(index, version).count();
    },
    scan: async (index, version, afterId, limit) => {
      await versions.refresh(index, version);
      const stored = records(index, version);
      const digests: { documentId: string; digest: string }[] = [];
      for await (const document of stored.contents(await stored.documents(afterId, limit)))
        digests.push({ documentId: document.documentId, digest: documentDigest(document) });
      return digests;
    },
    purge: () => purge(server, names.all),
    health: () => versions.health(),
    close: () => server.close(),
  };
};
