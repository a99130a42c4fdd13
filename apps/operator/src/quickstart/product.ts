import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { Failure } from '../exit-codes';
import { PlatformClient } from '../platform-client';
import { poll } from './steps';

const READY_WITHIN_MS = 60_000;
const STOPPED_WITHIN_MS = 15_000;
/** How much of what the product printed is shown when it fails to start. */
const TAIL = 4000;

/** The product that the quickstart talks to. */
export interface Product {
  readonly api: PlatformClient;
  readonly about: string;
  /** Stops and removes what was started for the quickstart; nothing where it was running before. */
  stop(): Promise<void>;
}

/** Uses a running server. Throws if it does not answer or rejects the key. */
export const runningProduct = async (url: string, apiKey: string): Promise<Product> => {
  const api = new PlatformClient(url, apiKey);
  await api.json('/api/v1/core/spaces', { query: { limit: 1 } });
  return { api, about: `using the server at ${url}`, stop: async () => undefined };
};

/** Starts the product itself on a temporary folder, a free port and a key of its own. */
export const startedProduct = async (environment: Readonly<Record<string, string | undefined>>): Promise<Product> => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-platform-quickstart-'));
  const port = await freePort();
  const apiKey = `quickstart-${randomBytes(24).toString('hex')}`;
  const child = spawn(
    process.execPath,
    [...process.execArgv, join(__dirname, `../../../api/src/main${extname(__filename)}`)],
    {
      env: {
        ...environment,
        HOST: '127.0.0.1',
        PORT: String(port),
        DATA_DIR: folder,
        BOOTSTRAP_API_KEY: apiKey,
        LOG_LEVEL: 'warn',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const stop = async (): Promise<void> => {
    await stopped(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const api = new PlatformClient(`http://127.0.0.1:${port}`, apiKey);
    await ready(child, api);
    return {
      api,
      about: `started the product on port ${port}, on a temporary folder that is removed at the end`,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

const ready = async (child: ChildProcess, api: PlatformClient): Promise<void> => {
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes: Buffer) => (printed = `${printed}${bytes.toString()}`.slice(-TAIL)));
  await poll('The start of the product', READY_WITHIN_MS, async () => {
    const end = child.exitCode ?? child.signalCode;
    if (end !== null) throw new Failure(`The product did not start (it ended with ${end}). It printed:\n${printed}`);
    return (await fetch(`${api.url}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    ))
      ? true
      : undefined;
  });
};

const stopped = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const killer = setTimeout(() => child.kill('SIGKILL'), STOPPED_WITHIN_MS);
  await exit;
  clearTimeout(killer);
};

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (typeof address !== 'object' || address === null) throw new Failure('No free port was found.');
  return address.port;
};
