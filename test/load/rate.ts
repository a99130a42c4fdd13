import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const AUTOCANNON = join(__dirname, '..', '..', 'node_modules', 'autocannon', 'autocannon.js');
const run = promisify(execFile);

/** Requests a second that a URL answers, all with 2xx; the load comes from a process of its own. */
export const requestsPerSecond = async (url: string, seconds: number, headers: Readonly<Record<string, string>> = {}): Promise<number> => {
  const given = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]);
  const { stdout } = await run(process.execPath, [AUTOCANNON, '-j', '-n', '-c', '32', '-d', String(seconds), ...given, url], { maxBuffer: 16 * 1024 ** 2 });
  const result = JSON.parse(stdout) as { requests: { average: number }; non2xx: number; errors: number };
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url}: ${result.non2xx} answers were no success, ${result.errors} failed`);
  return result.requests.average;
};

export const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
