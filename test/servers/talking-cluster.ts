import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { type Cluster, startCluster } from './cluster';
import { writeModelsFile } from '../fixtures/models-file';

/** A cluster, whose processes a test starts, with one chat model `m` that is a double of a provider. */
export const startTalkingCluster = async (): Promise<{
  readonly cluster: Cluster;
  readonly upstream: UpstreamDouble;
  destroy(): Promise<void>;
}> => {
  const folder = mkdtempSync(join(tmpdir(), 'talking-'));
  const upstream = await startUpstreamDouble();
  const file = writeModelsFile(folder, upstream, [{ key: 'm', kind: 'chat', pricing: 'free' }], {
    defaultModel: 'm',
    titleModel: null,
  });
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
