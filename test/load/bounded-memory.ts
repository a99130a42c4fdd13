import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { KEY, startProduct, type Started } from './product';

/**
 * What callers can make the built product hold: caches (41 pages of a library of long prompts, as many of long messages, 1,000
 * changes of a long prompt of an Agent) and answers that nobody reads (15 downloads of 60 MB). Prints the memory of the process
 * before, the most meanwhile and what stays, MB, and how many of the connections were closed within 85 s. Needs
 * `npm run build`. `PRODUCT` names another checkout, built, to compare with; `ONLY` a part of the name of what is to be done.
 * `npm exec -- node --require ./test/register.cjs test/load/bounded-memory.ts`
 */

const ONLY = process.env['ONLY'] ?? '';
const CORE = '/api/v1/core';
const MEBIBYTE = 1024 ** 2;
const PAGES = 41;
const LONG = 100_000;

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const long = (number: number): string => `${number} `.padEnd(LONG, 'Answer in short sentences. ');

interface Instance extends Started {
  call<T = Record<string, unknown>>(method: string, path: string, body?: object): Promise<T>;
}

interface Load {
  readonly what: string;
  /** Makes what is read. */
  readonly prepare: (instance: Instance) => Promise<() => Promise<string | void>>;
}

const id = async (instance: Instance, path: string, body: object): Promise<string> =>
  (await instance.call<{ id: string }>('POST', CORE + path, body)).id;

/** Some at a time. */
const inTurns = async (count: number, work: (number: number) => Promise<unknown>): Promise<void> => {
  for (let done = 0; done < count; done += 8)
    await Promise.all(Array.from({ length: Math.min(8, count - done) }, (_, more) => work(done + more)));
};

/** Reads so many pages of 50, or all there are. */
const readPages = async (instance: Instance, path: string): Promise<string> => {
  let items = 0;
  let pages = 0;
  for (let cursor = ''; pages < PAGES;) {
    const page: { items: unknown[]; nextCursor: string | null } = await instance.call(
      'GET',
      `${CORE}${path}?limit=50${cursor === '' ? '' : `&cursor=${cursor}`}`,
    );
    items += page.items.length;
    pages += 1;
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  return `${items} items on ${pages} pages`;
};

const loads: readonly Load[] = [
  {
    what: `${PAGES} pages of prompts of 100,000 characters`,
    prepare: async (instance) => {
      const space = await id(instance, '/spaces', { name: 'Library' });
      await inTurns(PAGES * 50, (number) =>
        id(instance, `/spaces/${space}/prompts`, { title: `Prompt ${number}`, text: long(number) }),
      );
      return () => readPages(instance, `/spaces/${space}/prompts`);
    },
  },
  {
    what: `${PAGES} pages of messages of 100,000 characters`,
    prepare: async (instance) => {
      const agent = await id(instance, '/agents', {
        spaceId: await id(instance, '/spaces', { name: 'Talk' }),
        name: 'Talker',
        knowledgeEnabled: false,
      });
      const ask = (message: string, conversationId?: string) =>
        instance.call<{ conversationId: string }>('POST', `${CORE}/llm/${agent}/conversation`, {
          message,
          ...(conversationId && { conversationId }),
        });
      const { conversationId } = await ask('Hello.');
      for (let number = 0; number < (PAGES * 50) / 2; number += 1) await ask(long(number), conversationId);
      return () => readPages(instance, `/llm/${agent}/conversation/${conversationId}/messages`);
    },
  },
  {
    what: '1,000 changes of a prompt of 100,000 characters',
    prepare: async (instance) => {
      const agent = await id(instance, '/agents', {
        spaceId: await id(instance, '/spaces', { name: 'Agents' }),
        name: 'Changing',
      });
      return async () => {
        for (let number = 0; number < 1_000; number += 1)
          await instance.call('PUT', `${CORE}/agents/${agent}/prompt`, { systemPrompt: long(number) });
      };
    },
  },
  {
    what: '15 clients that do not read 60 MB',
    prepare: async (instance) => {
      const agent = await id(instance, '/agents', {
        spaceId: await id(instance, '/spaces', { name: 'Files' }),
        name: 'Filed',
      });
      const path = `${CORE}/knowledge/${agent}/documents`;
      const form = new FormData();
      form.append('file', new Blob([new Uint8Array(60 * MEBIBYTE)], { type: 'application/octet-stream' }), 'large.bin');
      const response = await fetch(instance.url + path, { method: 'POST', headers: { 'x-api-key': KEY }, body: form });
      const { items } = (await response.json()) as { items: { id: string }[] };
      return () => leaveUnread(instance, `${path}/${items[0]?.id}/file`);
    },
  },
];

/** Asks and reads nothing for 85 s; then looks which connections still give something. */
const leaveUnread = async ({ url }: Instance, path: string): Promise<string> => {
  const { hostname, port } = new URL(url);
  const sockets = Array.from({ length: 15 }, (): Socket => {
    const socket = connect(Number(port), hostname).pause();
    socket.on('error', () => undefined);
    socket.write(`GET ${path} HTTP/1.1\r\nhost: here\r\nx-api-key: ${KEY}\r\n\r\n`);
    return socket;
  });
  await pause(85_000);
  const closed = sockets.map((socket) => new Promise<boolean>((resolve) => socket.once('close', () => resolve(true))));
  const read = sockets.map(() => 0);
  sockets.forEach((socket, index) =>
    socket.on('data', (bytes: Buffer) => (read[index] = (read[index] as number) + bytes.length)).resume(),
  );
  await Promise.race([Promise.all(closed), pause(5_000)]);
  const broken = sockets.filter((socket, index) => socket.destroyed && (read[index] as number) < 60 * MEBIBYTE).length;
  for (const socket of sockets) socket.destroy();
  return `after 85 s ${broken} of 15 connections were closed`;
};

const measure = async ({ what, prepare }: Load): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'load-memory-'));
  const product = await startProduct(folder);
  const call: Instance['call'] = async (method, path, body) =>
    answered(
      await fetch(product.url + path, {
        method,
        headers: { 'x-api-key': KEY, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
  try {
    const work = await prepare({ ...product, call });
    await pause(5_000);
    const before = memoryOf(product.pid);
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, memoryOf(product.pid))), 100);
    const said = await work();
    clearInterval(watch);
    await pause(2_000);
    say(
      `${what}: ${before.toFixed(0)} MB before, ${most.toFixed(0)} at most, ${memoryOf(product.pid).toFixed(0)} afterwards${said ? `; ${said}` : ''}`,
    );
  } finally {
    await product.stop();
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Resident, MB. */
const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

const answered = async <T>(response: Response): Promise<T> => {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 200)}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
};

const main = async (): Promise<void> => {
  for (const load of loads) if (load.what.includes(ONLY)) await measure(load);
};

void main();
