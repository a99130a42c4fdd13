import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isServerInstalled, type ServerName, serverScript } from '../../servers/server-script';
import { CLUSTER_SERVERS, type ClusterServers } from '../../servers/cluster';
import { freePort } from '../../servers/free-port';

const run = promisify(execFile);
const NAMES = { MONGODB_URL: 'mongodb', ELASTICSEARCH_URL: 'elasticsearch', S3_URL: 's3' } as const satisfies Record<
  keyof ClusterServers,
  ServerName
>;
const ADDRESSES: Readonly<Record<keyof ClusterServers, (port: number) => string>> = {
  MONGODB_URL: (port) => `mongodb://127.0.0.1:${port}/platform`,
  ELASTICSEARCH_URL: (port) => `http://127.0.0.1:${port}`,
  S3_URL: (port) => `http://platform:platform-secret@127.0.0.1:${port}/platform`,
};

/** Why no servers can be shared here; undefined where they can. */
export const missingServers = (): string | undefined => {
  const missing = CLUSTER_SERVERS.filter(
    (variable) => (process.env[variable] ?? '') === '' && !isServerInstalled(NAMES[variable]),
  );
  return missing.length === 0
    ? undefined
    : missing
        .map((variable) => `${variable} is not set and test/servers/${NAMES[variable]}.sh install was not run`)
        .join(', ');
};

/** The servers that the environment names, and ones of the tests' own in the place of those that it does not name. */
export const startSharedServers = async (): Promise<ClusterServers & { stop(): Promise<void> }> => {
  const folder = mkdtempSync(join(tmpdir(), 'shared-servers-'));
  // Elasticsearch runs as another user than root.
  chmodSync(folder, 0o711);
  const started: ServerName[] = [];
  const urlOf = async (variable: keyof ClusterServers): Promise<string> => {
    const given = process.env[variable] ?? '';
    if (given !== '') return given;
    const [name, port] = [NAMES[variable], await freePort()];
    await run(serverScript(name), ['start', join(folder, name), String(port)]);
    started.push(name);
    return ADDRESSES[variable](port);
  };
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((name) => run(serverScript(name), ['stop', join(folder, name)])));
    rmSync(folder, { recursive: true, force: true });
  };
  const [MONGODB_URL, ELASTICSEARCH_URL, S3_URL] = await Promise.all([
    urlOf('MONGODB_URL'),
    urlOf('ELASTICSEARCH_URL'),
    urlOf('S3_URL'),
  ]);
  return { MONGODB_URL, ELASTICSEARCH_URL, S3_URL, stop };
};
