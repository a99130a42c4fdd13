import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN_KEY } from '../e2e/harness';
import { TcpProxy } from '../fixtures/tcp-proxy';
import { until } from '../fixtures/until';
import { dyingProduct } from './processes/dying-product';

/**
 * kill -9 in the middle of writes to many documents: a sync, of the operator that sends it and of the product, and a bulk operation.
 * Done again they end as if nothing had happened. `FILES` (150) and `DOCUMENTS` (1000) say of how many.
 */

const FILES = Number(process.env['FILES'] ?? 150);
const DOCUMENTS = Number(process.env['DOCUMENTS'] ?? 1_000);
const AT_ONCE = 16;
const CORE = '/api/v1/core';
const ROOT = join(__dirname, '..', '..');
const PATIENCE = { patience: 120_000, every: 100 };

interface Document {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly contentHash: string;
}
interface Bulk {
  readonly results: readonly { readonly documentId: string; readonly ok: boolean; readonly code?: string }[];
}

const product = dyingProduct('knowledge-writes');
const restart = async (): Promise<void> => {
  product.child.kill('SIGKILL');
  await product.child.exited;
  await product.start();
};

const call = async <T>(path: string, body?: object, headers: Readonly<Record<string, string>> = {}) => {
  const response = await fetch(`${product.child.url}${CORE}${path}`, {
    headers: { ...headers, 'x-api-key': ADMIN_KEY, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as T };
};
const newAgent = async (): Promise<string> =>
  (await call<{ id: string }>('/agents', { name: 'Guide', knowledgeEnabled: true })).body.id;
const documentsOf = async (agent: string): Promise<readonly Document[]> => {
  const all: Document[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const { body } = await call<{ items: readonly Document[]; nextCursor: string | null }>(
      `/knowledge/${agent}/documents?limit=100${from}`,
    );
    all.push(...body.items);
    cursor = body.nextCursor;
  }
  return all;
};

describe('a sync of many files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'synced-'));
  const running = new Set<ChildProcess>();
  afterAll(() => {
    for (const child of running) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  /** The operator in a process of its own. */
  const sync = (agent: string, url = product.child.url) => {
    const words = ['--url', url, '--api-key', ADMIN_KEY, '--json', 'sync', folder, '--agent', agent];
    const child = spawn(
      process.execPath,
      ['--require', join(ROOT, 'test/register.cjs'), join(ROOT, 'apps/operator/src/main.ts'), ...words].concat(
        '--source',
        'handbook',
      ),
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    running.add(child);
    let printed = '';
    child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    const ended = new Promise<{ code: number | null; result: Readonly<Record<string, unknown>> }>((resolve) =>
      child.once('close', (code) => {
        running.delete(child);
        const isResult = printed.startsWith('{');
        resolve({ code, result: isResult ? (JSON.parse(printed) as Readonly<Record<string, unknown>>) : {} });
      }),
    );
    return { child, ended };
  };
  /** Composed: which of two names that differ in that alone is sent is not the point. */
  const names = (documents: readonly Document[]) => documents.map(({ name }) => name.normalize('NFC')).toSorted();

  it('whose operator is killed, then the product, and that is done again, ends with each file once', async () => {
    const agent = await newAgent();
    const files = new Map<string, string>();
    const write = (path: string, text: string): void => {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), text);
      files.set(path.normalize('NFC'), text);
    };
    for (let n = 0; n < FILES; n += 1) write(`part ${n % 7}/file ${n}.md`, `The file ${n} says ${randomUUID()}.`);
    // One name is composed, one is not, and one is there in both forms, which the platform takes for one.
    write('\u00fcber.md', 'Composed.');
    write('a\u0308rger.md', 'Decomposed.');
    for (const twin of ['\u00f6l.md', 'o\u0308l.md']) write(twin, 'There twice.');
    /** A sync that is in the middle once it has sent so many files, and gets no further. */
    const halted = async (files: number) => {
      const proxy = await TcpProxy.start(Number(new URL(product.child.url).port));
      let sent = 0;
      proxy.onSentUp = (piece) => {
        sent += piece.toString('latin1').split('/sources/handbook/files HTTP/1.1').length - 1;
        if (sent >= files) proxy.stall('up');
      };
      const begun = sync(agent, `http://127.0.0.1:${proxy.port}`);
      await until(() => sent >= files, `${files} files`, { patience: 120_000 });
      return { ...begun, close: () => proxy.close() };
    };

    const first = await halted(FILES * 0.3);
    first.child.kill('SIGKILL');
    expect((await first.ended).code).toBeNull();
    await first.close();
    const some = (await documentsOf(agent)).length;
    expect([some > 0, some < FILES]).toEqual([true, true]);

    const second = await halted(FILES * 0.3);
    await restart();
    await second.close();
    expect((await second.ended).code).not.toBe(0);
    const more = (await documentsOf(agent)).length;
    expect([more > some, more < FILES]).toEqual([true, true]);

    // Files go on changing meanwhile.
    write('part 0/file 0.md', 'Changed since.');
    rmSync(join(folder, 'part 1/file 1.md'));
    files.delete('part 1/file 1.md');
    const third = await sync(agent).ended;
    // 1: the twin that is not sent.
    expect([third.code, third.result['deleted'], third.result['replaced']]).toEqual([
      1,
      ['part 1/file 1.md'],
      ['part 0/file 0.md'],
    ]);
    expect((third.result['failed'] as { path: string }[]).map(({ path }) => path.normalize('NFC'))).toEqual([
      '\u00f6l.md',
    ]);
    const after = await documentsOf(agent);
    expect(names(after)).toEqual([...files.keys()].toSorted());
    const contents = new Map(after.map(({ name, contentHash }) => [name.normalize('NFC'), contentHash]));
    for (const [path, text] of files)
      expect([path, contents.get(path)]).toEqual([path, createHash('sha256').update(text).digest('hex')]);
    await until(
      async () => (await documentsOf(agent)).every(({ status }) => status === 'Ready'),
      'that all can be searched',
      PATIENCE,
    );
    const nothing = { uploaded: [], replaced: [], deleted: [], withheld: [], unchanged: files.size };
    expect((await sync(agent).ended).result).toMatchObject(nothing);
    expect((await documentsOf(agent)).map(({ id }) => id).toSorted()).toEqual(after.map(({ id }) => id).toSorted());
  }, 600_000);

  it('whose product is killed while it deletes what is gone deletes the rest when it is done again', async () => {
    const agent = await newAgent();
    const path = `/knowledge/${agent}/sources/handbook`;
    const texts = Array.from({ length: 40 }, (_, n) => [`${n}.md`, `The file ${n}.`] as const);
    for (const [name, text] of texts) {
      const form = new FormData();
      form.set('path', name);
      form.set('file', new Blob([text]), name);
      const headers = { 'x-api-key': ADMIN_KEY };
      expect(
        (await fetch(`${product.child.url}${CORE}${path}/files`, { method: 'POST', headers, body: form })).status,
      ).toBe(202);
    }
    const kept = texts.slice(0, 3);
    const files = kept.map(([name, text]) => ({
      path: name,
      contentHash: createHash('sha256').update(text).digest('hex'),
    }));
    const body = { files, confirmDeletions: true };
    await expect(call(`${path}/sync`, body, { 'x-request-id': 'dying-20' })).rejects.toThrow('fetch failed');
    await product.child.exited;
    await product.start();
    const left = (await documentsOf(agent)).length;
    expect(left).toBeGreaterThan(kept.length);
    expect(left).toBeLessThan(texts.length);
    const again = await call<{ vanished: string[]; upload: string[]; replace: string[] }>(`${path}/sync`, body);
    expect([again.status, again.body.upload, again.body.replace, again.body.vanished.length]).toEqual([
      200,
      [],
      [],
      left - kept.length,
    ]);
    expect(names(await documentsOf(agent))).toEqual(kept.map(([name]) => name));
  });
});

describe('a bulk operation on many documents', () => {
  const filled = async (agent: string, count: number): Promise<readonly string[]> => {
    const add = async (n: number): Promise<string> => {
      const body = { name: `${n}.md`, content: `The document ${n}.`, mimeType: 'text/markdown' };
      return (await call<{ id: string }>(`/knowledge/${agent}/documents`, body)).body.id;
    };
    const ids: string[] = [];
    for (let n = 0; n < count; n += AT_ONCE)
      ids.push(...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - n) }, (_, at) => add(n + at)))));
    return ids;
  };
  const bulk = (agent: string, body: object, key: string, more: Readonly<Record<string, string>> = {}) =>
    call<Bulk & { code?: string }>(`/knowledge/${agent}/documents/bulk`, body, { 'idempotency-key': key, ...more });
  /** The answer of a request that another one under its key may be in the middle of. */
  const answered = async (ask: () => ReturnType<typeof bulk>): ReturnType<typeof bulk> => {
    let answer = await ask();
    await until(
      async () => {
        if (answer.body.code === 'request_in_progress') answer = await ask();
        return answer.body.code !== 'request_in_progress';
      },
      'its answer',
      PATIENCE,
    );
    return answer;
  };

  it('that is killed midway is finished under its Idempotency-Key, each done once, also where two repeat it and a third does the same', async () => {
    const agent = await newAgent();
    const documentIds = await filled(agent, DOCUMENTS);
    const body = { operation: 'delete', documentIds };
    const key = randomUUID();
    const died = bulk(agent, body, key, { 'x-request-id': `dying-${Math.floor(DOCUMENTS / 2)}` });
    await expect(died).rejects.toThrow('fetch failed');
    await product.child.exited;
    await product.start();
    const left = (await documentsOf(agent)).length;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(DOCUMENTS);

    const [one, two, other] = await Promise.all([
      answered(() => bulk(agent, body, key)),
      answered(() => bulk(agent, body, key)),
      bulk(agent, body, randomUUID()),
    ]);
    expect([one.status, two.body, other.status]).toEqual([200, one.body, 200]);
    const byOther = new Map(other.body.results.map(({ documentId, ok }) => [documentId, ok]));
    expect(one.body.results.map(({ documentId }) => documentId)).toEqual(documentIds);
    // Deleted by one of them, and for the other not there.
    for (const { documentId, ok } of one.body.results) expect(ok).toBe(byOther.get(documentId) === false);
    expect(one.body.results.filter(({ ok }) => ok).length).toBeGreaterThanOrEqual(DOCUMENTS - left);
    expect(await documentsOf(agent)).toEqual([]);
    expect((await answered(() => bulk(agent, body, key))).body).toEqual(one.body);
  }, 600_000);

  it('that ingests by force and is killed midway begins each once under its Idempotency-Key', async () => {
    const agent = await newAgent();
    const documentIds = await filled(agent, 40);
    const isReady = async () => (await documentsOf(agent)).every(({ status }) => status === 'Ready');
    await until(isReady, 'that all can be searched', PATIENCE);
    const body = { operation: 'forceReprocess', documentIds };
    const key = randomUUID();
    await expect(bulk(agent, body, key, { 'x-request-id': 'dying-20' })).rejects.toThrow('fetch failed');
    await product.child.exited;
    await product.start();
    await until(isReady, 'that those which were begun can be searched again', PATIENCE);
    const [one, two] = await Promise.all([
      answered(() => bulk(agent, body, key)),
      answered(() => bulk(agent, body, key)),
    ]);
    expect([one.body.results, two.body]).toEqual([
      documentIds.map((documentId) => ({ documentId, ok: true })),
      one.body,
    ]);
    await until(isReady, 'that all can be searched again', PATIENCE);
    for (const id of documentIds) {
      const { body: logs } = await call<{ items: { event: string }[] }>(`/knowledge/${agent}/documents/${id}/logs`);
      // Once as it was added, and once by this.
      expect(logs.items.filter(({ event }) => event === 'queued')).toHaveLength(2);
    }
  }, 300_000);
});
