import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, extname, join, relative } from 'node:path';
import { Failure } from '../exit-codes';
import { type Output, table } from '../output';
import type { PlatformClient } from '../platform-client';
import { progressBar } from '../progress-bar';
import { poll } from './steps';

const MIME_TYPES: Readonly<Record<string, string>> = {
  '.md': 'text/markdown',
  '.markdown': 'text/markdown',
  '.txt': 'text/plain',
};
const SKIPPED_FOLDERS = new Set(['node_modules', 'dist']);
const MOST_FILES = 200;
const INGESTED_WITHIN_MS = 5 * 60_000;

export interface SourceFile {
  readonly path: string;
  readonly name: string;
  readonly text: string;
}

interface Document {
  readonly id: string;
  readonly name: string;
  readonly status: 'Pending' | 'Processing' | 'Ready' | 'Failed';
  readonly statusDetail?: { readonly code: string; readonly message: string };
  readonly chunkCount: number;
  readonly tokenCount: number;
}

/** The project's own documents: `README.md` and `docs/`. */
export const ownFiles = async (root: string): Promise<readonly SourceFile[]> =>
  read(root, [join(root, 'README.md'), ...(await textFiles(join(root, 'docs')))]);

/** The Markdown and text files of a folder. */
export const filesIn = async (folder: string): Promise<readonly SourceFile[]> => {
  const known = await stat(folder).catch(() => undefined);
  if (known?.isDirectory() !== true) throw new Failure(`${folder} is not a folder.`);
  return read(folder, await textFiles(folder));
};

const read = async (root: string, paths: readonly string[]): Promise<readonly SourceFile[]> => {
  if (paths.length === 0) throw new Failure(`${root} has no Markdown or text file.`);
  return Promise.all(
    paths
      .slice(0, MOST_FILES)
      .map(async (path) => ({ path, name: relative(root, path), text: await readFile(path, 'utf8') })),
  );
};

const textFiles = async (folder: string): Promise<readonly string[]> => {
  const entries = (await readdir(folder, { withFileTypes: true })).filter(
    ({ name }) => !name.startsWith('.') && !SKIPPED_FOLDERS.has(name),
  );
  const found = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return textFiles(path);
      return entry.isFile() && extname(entry.name) in MIME_TYPES ? [path] : [];
    }),
  );
  return found.flat().toSorted();
};

/** Uploads files to an Agent, each under its path in the folder. */
export const upload = async (api: PlatformClient, agentId: string, files: readonly SourceFile[]): Promise<void> => {
  for (const { name, path, text } of files) {
    const form = new FormData();
    form.set('scope', 'agent');
    form.set('name', name);
    form.set('file', new Blob([text], { type: MIME_TYPES[extname(path)] ?? 'text/plain' }), basename(path));
    await api.json(`/api/v1/core/knowledge/${agentId}/documents`, { method: 'POST', body: form });
  }
};

/** Shows the ingestion until every document is `Ready`. Throws when one failed. */
export const ingested = async (
  api: PlatformClient,
  agentId: string,
  expected: number,
  output: Output,
): Promise<readonly Document[]> => {
  const documents = await poll('The ingestion', INGESTED_WITHIN_MS, async () => {
    const found: Document[] = [];
    for await (const document of api.list<Document>(`/api/v1/core/knowledge/${agentId}/documents`))
      found.push(document);
    const ready = found.filter(({ status }) => status === 'Ready').length;
    output.progress(progressBar('   documents ready', { done: ready, total: expected }));
    return found.length >= expected && found.every(({ status }) => status === 'Ready' || status === 'Failed')
      ? found
      : undefined;
  });
  output.progressDone();
  const failed = documents.filter(({ status }) => status === 'Failed');
  if (failed.length > 0)
    throw new Failure(
      failed
        .map(({ name, statusDetail }) => `${name} could not be ingested: ${statusDetail?.message ?? 'no reason given'}`)
        .join('\n'),
    );
  return documents;
};

export const documentLines = (documents: readonly Document[]): readonly string[] =>
  table(
    documents.toSorted((a, b) => a.name.localeCompare(b.name)),
    { document: ({ name }) => name, chunks: ({ chunkCount }) => chunkCount, tokens: ({ tokenCount }) => tokenCount },
  );
