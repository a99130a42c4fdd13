import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../e2e/child';

/** The first API key of each product that is started here. */
export const KEY = 'killed-product-key-0123456789-abcdefghijklmnop';

export interface KilledProduct {
  /** Of the test that runs; what it wants to keep beside the data has its place here. */
  readonly folder: () => string;
  readonly dataDir: () => string;
  /** Starts the product, or a script that dies as it, on the data. What still runs behind the test is stopped. */
  readonly start: (environment?: Readonly<Record<string, string>>, script?: string) => Promise<Child>;
}

/** The product in processes of its own, one after the other on the same data, in a folder for each test of a file. */
export const killedProduct = (name: string): KilledProduct => {
  let folder: string;
  const running: Child[] = [];
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), `${name}-`))));
  afterEach(async () => {
    for (const child of running.splice(0)) await child.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const dataDir = (): string => join(folder, 'data');
  const start: KilledProduct['start'] = async (environment = {}, script = 'apps/api/src/main.ts') => {
    const own = { DATA_DIR: dataDir(), PORT: '0', BOOTSTRAP_API_KEY: KEY, LOG_LEVEL: 'warn' };
    const child = await startChild(script, { ...own, ...environment });
    running.push(child);
    return child;
  };
  return { folder: () => folder, dataDir, start };
};

/** Asks a product that runs; the body is parsed, and undefined where there is none. */
export const ask = async <T = Readonly<Record<string, unknown>>>(
  { url }: Child,
  path: string,
  method = 'GET',
  body?: object,
): Promise<{ readonly status: number; readonly body: T }> => {
  const isForm = body instanceof FormData;
  const response = await fetch(`${url}/api/v1/${path}`, {
    method,
    headers: { 'x-api-key': KEY, ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  // What is asked of the product is answered as its reference says.
  return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as T };
};

/** What it answers; throws where it rejects. */
export const call = async <T = Readonly<Record<string, unknown>>>(...asked: Parameters<typeof ask>): Promise<T> => {
  const { status, body } = await ask<T>(...asked);
  if (status >= 300) throw new Error(`${asked[2] ?? 'GET'} ${asked[1]}: ${status} ${JSON.stringify(body)}`);
  return body;
};

/** What the receipts say: which stream was erased, and what went with it. */
export const receipts = async (child: Child) =>
  (
    await call<{
      items: readonly { readonly data: { readonly stream: string; readonly things: readonly string[] } }[];
    }>(child, 'audit/events?type=ContentErased&limit=100')
  ).items.map(({ data }) => data);
