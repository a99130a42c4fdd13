import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Where the built product lies: `PRODUCT` names another checkout, to compare with. */
export const PRODUCT = process.env['PRODUCT'] ?? join(__dirname, '..', '..');
/** The key of its admin. */
export const KEY = 'load-test-key-0123456789-abcdefghijklmnop';

export interface Started {
  readonly pid: number;
  readonly url: string;
  /** From the start of the process until it is ready. */
  readonly readyMs: number;
  stop(): Promise<void>;
}

/** What `npm start` gives to node. */
const commandOfStart = (checkout: string): readonly string[] => {
  const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  return scripts.start.replace(/^exec node /, '').split(' ');
};

/** Starts the built product of a checkout and asks until it is ready. */
export const startProduct = async (
  dataDir: string,
  environment: Readonly<Record<string, string>> = {},
  checkout: string = PRODUCT,
): Promise<Started> => {
  const command = commandOfStart(checkout);
  if (!existsSync(join(checkout, command.at(-1) ?? ''))) throw new Error('run `npm run build` first');
  const began = performance.now();
  const child = spawn(process.execPath, command, {
    cwd: checkout,
    env: { ...process.env, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', BOOTSTRAP_API_KEY: KEY, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const url = await new Promise<string>((resolve, reject) => {
    void exited.then((code) => reject(new Error(`the product ended with ${String(code)}`)));
    child.stdout.on('data', (chunk: Buffer) => {
      const found = /http:\/\/[\d.:]+/.exec(chunk.toString());
      if (found !== null) resolve(found[0]);
    });
  });
  while ((await fetch(`${url}/health/ready`)).status !== 200) await pause(20);
  const readyMs = performance.now() - began;
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  return { pid: child.pid ?? 0, url, readyMs, stop };
};

/** Asks a product as its admin. Answers the text; throws where it is rejected. */
export const ask = async (
  { url }: { readonly url: string },
  method: string,
  path: string,
  body?: object,
): Promise<string> => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { 'x-api-key': KEY, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text;
};
