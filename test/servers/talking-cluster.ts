import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { type Cluster, startCluster } from './cluster';

/** A cluster, whose processes a test starts, with one chat model `m` that is a double of a provider. */
export const startTalkingCluster = async (): Promise<{
  readonly cluster: Cluster;
  readonly upstream: UpstreamDouble;
  destroy(): Promise<void>;
}> => {
  const folder = mkdtempSync(join(tmpdir(), 'talking-'));
  const upstream = await startUpstreamDouble();
  const file = join(folder, 'models.json');
  writeFileSync(
    file,
    JSON.stringify({
      defaultModel: 'm',
      titleModel: null,
      providers: { acme: { kind: 'openai', baseUrl: upstream.baseUrl } },
      models: [{ key: 'm', provider: 'acme', kind: 'chat', pricing: 'free' }],
    }),
  );
  const cluster = await startCluster(undefined, { MODELS_FILE: file });
  return {
    cluster,
    upstream,
    destroy: async () => {
      await cluster.destroy();
      await upstream.stop();
      rmSync(folder, { recursive: true });
    },
  };
};
