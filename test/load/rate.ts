import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const AUTOCANNON = join(__dirname, '..', '..', 'node_modules', 'autocannon', 'autocannon.js');
const run = promisify(execFile);

export interface Rate {
  readonly perSecond: number;
  /** Processor time of the server for one request, microseconds; 0 where the system does not tell. Says more than the rate on a machine that is shared. */
  readonly cpuMicroseconds: number;
}

/** How a server answers requests of a URL, all with 2xx; the load comes from a process of its own. */
export const rateOf = async (
  pid: number,
  url: string,
  seconds: number,
  headers: Readonly<Record<string, string>> = {},
  { body, connections = 32 }: { readonly body?: string; readonly connections?: number } = {},
): Promise<Rate> => {
  const given = [
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]),
    ...(body === undefined ? [] : ['-m', 'POST', '-b', body]),
  ];
  const before = cpuSeconds(pid);
  const { stdout } = await run(
    process.execPath,
    [AUTOCANNON, '-j', '-n', '-c', String(connections), '-d', String(seconds), ...given, url],
    { maxBuffer: 16 * 1024 ** 2 },
  );
  const result = JSON.parse(stdout) as { requests: { average: number; total: number }; non2xx: number; errors: number };
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} answers were no success, ${result.errors} failed`);
  return {
    perSecond: result.requests.average,
    cpuMicroseconds: ((cpuSeconds(pid) - before) * 1e6) / result.requests.total,
  };
};

/** User and system time of a process, in the hundredths that Linux counts. */
export const cpuSeconds = (pid: number): number => {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return 0;
  const fields = readFileSync(file, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
};

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/**
 * Keeps a process with all its threads, and those it starts from now on, to one processor, so that a server and what asks
 * it do not take turns on the same one. False where the system cannot: not Linux, or one processor only.
 */
export const pinned = (pid: number, processor: number): boolean =>
  availableParallelism() > processor &&
  spawnSync('taskset', ['-a', '-p', '-c', String(processor), String(pid)], { stdio: 'ignore' }).status === 0;

/** The value that this share of the values, from 0 to 1, lies below. */
export const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
