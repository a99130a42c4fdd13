import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type CoordinationStore, openMongoCoordinationStore } from '@app/coordination';
import { type Child, startChild } from '../e2e/child';
import { type ProviderDouble, startProviderDouble } from '../fixtures/provider-double';
import { until } from '../fixtures/until';
import { instanceOn } from './elasticsearch-instance';
import { type EventStoreDouble, startEventStoreDouble } from './eventstoredb/double';

export const CLUSTER_KEY = 'cluster-bootstrap-key-0123456789-abcdefghijklmnop';
export const CLUSTER_SERVERS = ['MONGODB_URL', 'ELASTICSEARCH_URL', 'S3_URL'] as const;

/** Addresses of what processes share beside the log. */
export type ClusterServers = Readonly<Record<(typeof CLUSTER_SERVERS)[number], string>>;

export type RoleName = 'api' | 'projector' | 'worker';

export interface Called<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

/** Processes of the platform over servers that all share, with a log, views and keys of their own. */
export interface Cluster {
  /** Answers embeddings; ingestion waits where it is told not to. */
  readonly provider: ProviderDouble;
  /** The catalogue of all processes. */
  readonly modelsFile: string;
  /** Starts a process with these roles; resolves when it listens. */
  start(...roles: readonly RoleName[]): Promise<Child>;
  /** The same, with settings of its own. */
  startWith(settings: Readonly<Record<string, string>>, ...roles: readonly RoleName[]): Promise<Child>;
  /** Ends one at once, as a machine does that dies. */
  kill(child: Child): Promise<void>;
  /** What stands beside the views about processes and the work that they share. */
  readonly records: CoordinationStore;
  /** Asks again, as clients do, while the platform cannot serve: servers of a busy machine are away for seconds. Writes have an `Idempotency-Key`, so that a repeat is as good as the first. */
  call<T = { readonly id: string }>(
    child: Child,
    path: string,
    call?: {
      readonly method?: string;
      readonly body?: unknown;
      readonly key?: string;
      readonly headers?: Readonly<Record<string, string>>;
      /** Without a key, which costs MongoDB two writes: asks again only while nothing was done. */
      readonly isKeyless?: boolean;
    },
  ): Promise<Called<T>>;
  destroy(): Promise<void>;
}

/** Why no cluster can be had here; undefined where it can. */
export const missingForCluster = (): string | undefined => {
  const missing = CLUSTER_SERVERS.filter((name) => (process.env[name] ?? '') === '');
  return missing.length === 0 ? undefined : `${missing.join(', ')} not set`;
};

const serversOfEnvironment = (): ClusterServers => ({
  MONGODB_URL: process.env['MONGODB_URL'] ?? '',
  ELASTICSEARCH_URL: process.env['ELASTICSEARCH_URL'] ?? '',
  S3_URL: process.env['S3_URL'] ?? '',
});

const MOST_REPEATS = 8;

/** Sends a request again while it is answered 503, as a client does: on a busy machine a server may take seconds for a step. */
export const untilServed = async <T extends { readonly status: number }>(send: () => Promise<T>): Promise<T> => {
  for (let left = MOST_REPEATS; ; left -= 1) {
    const answer = await send();
    if (answer.status !== 503 || left === 0) return answer;
    await pause(1_000);
  }
};

/** A cluster on servers, those of the environment by default. The log must be empty: a double's, unless `logUrl` names another. */
export const startCluster = async (
  servers = serversOfEnvironment(),
  further: Readonly<Record<string, string>> = {},
  logUrl?: string,
): Promise<Cluster> => {
  const folder = mkdtempSync(join(tmpdir(), 'cluster-'));
  const log: EventStoreDouble | undefined = logUrl === undefined ? await startEventStoreDouble() : undefined;
  const provider = await startProviderDouble();
  const instance = instanceOn(servers.ELASTICSEARCH_URL);
  const models = [{ key: 'lengths', provider: 'double', kind: 'embedding', pricing: 'free' }];
  const modelsFile = join(folder, 'models.json');
  writeFileSync(
    modelsFile,
    JSON.stringify({
      embeddingModel: 'lengths',
      providers: { double: { kind: 'openai', baseUrl: provider.baseUrl } },
      models,
    }),
  );
  const database = new URL(servers.MONGODB_URL);
  database.pathname = `/cluster-${randomUUID()}`;
  const environment = {
    EVENTSTORE_URL: logUrl ?? log?.url ?? '',
    MONGODB_URL: database.href,
    ELASTICSEARCH_URL: instance.urlOf(),
    S3_URL: servers.S3_URL,
    VAULT_KEY: 'vault-key-of-the-cluster-0123456789-0123456789',
    SEAL_KEY: 'seal-key-of-the-cluster-0123456789-0123456789',
    MODELS_FILE: modelsFile,
    BOOTSTRAP_API_KEY: CLUSTER_KEY,
    PORT: '0',
    LOG_LEVEL: 'warn',
    ...further,
  };
  const records = await openMongoCoordinationStore({ url: database.href });
  const running = new Set<Child>();
  const startWith: Cluster['startWith'] = async (settings, ...roles) => {
    const child = await startChild(`apps/${roles.length === 1 ? roles[0] : 'api'}/src/main.ts`, {
      ...environment,
      ...settings,
      ROLES: roles.join(','),
      DATA_DIR: mkdtempSync(join(folder, 'data-')),
    });
    running.add(child);
    return child;
  };
  const callOnce: Cluster['call'] = async <T>(
    { url }: Child,
    path: string,
    { method = 'GET', body, key = CLUSTER_KEY, headers = {} }: Parameters<Cluster['call']>[2] = {},
  ) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...sent,
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? undefined : JSON.parse(text)) as T,
    };
  };
  const call: Cluster['call'] = async <T>(child: Child, path: string, asked: Parameters<Cluster['call']>[2] = {}) => {
    const isKeyed = asked.isKeyless !== true && (asked.method ?? 'GET') !== 'GET';
    const headers = { ...(isKeyed && { 'idempotency-key': randomUUID() }), ...asked.headers };
    for (let left = MOST_REPEATS; ; left -= 1) {
      const answer = await callOnce<T>(child, path, { ...asked, headers });
      const { outcome, code } = (answer.body ?? {}) as { outcome?: string; code?: string };
      const isServed = answer.status !== 503 || (outcome === 'unknown' && !isKeyed);
      const isUnderWay = isKeyed && left < MOST_REPEATS && code === 'request_in_progress';
      if ((isServed && !isUnderWay) || left === 0) return answer;
      await pause(1_000);
    }
  };
  return {
    provider,
    modelsFile,
    start: (...roles) => startWith({}, ...roles),
    startWith,
    kill: async (child) => {
      running.delete(child);
      child.kill('SIGKILL');
      await child.exited;
    },
    records,
    call,
    destroy: async () => {
      for (const child of running) child.kill('SIGCONT');
      await Promise.all([...running].map((child) => child.stop()));
      await records.close();
      await provider.stop();
      await instance.destroy();
      await log?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** Polls as processes start and die. */
export const eventually = (check: () => Promise<boolean>, what: string): Promise<void> =>
  until(check, what, { patience: 120_000, every: 100 });
