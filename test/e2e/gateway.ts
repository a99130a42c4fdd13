import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { startUpstreamDouble, type UpstreamDouble } from '../fixtures/upstream-double';
import { startTestPlatform, type TestPlatform } from './harness';

/** The whole product on a free port, with a provider that does as a test wants behind its gateway. */
export interface TestGateway {
  readonly upstream: UpstreamDouble;
  readonly platform: TestPlatform;
  /** What a client sets as its base URL. */
  readonly baseUrl: string;
  stop(): Promise<void>;
}

/** Serves the chat model `chat`, the embedding model `vectors` and the reranker `ranks` of one provider. `provider` adds to its description, `chat` to that of the chat model. */
export const startTestGateway = async ({
  provider = {},
  chat = {},
  environment = {},
  logger,
}: {
  provider?: object;
  chat?: object;
  environment?: Readonly<Record<string, string>>;
  logger?: Logger;
} = {}): Promise<TestGateway> => {
  const upstream = await startUpstreamDouble();
  const folder = mkdtempSync(join(tmpdir(), 'gateway-'));
  const file = join(folder, 'models.json');
  const models = [
    ['chat', 'chat'],
    ['vectors', 'embedding'],
    ['ranks', 'reranker'],
  ].map(([key, kind]) => ({ key, kind, provider: 'acme', pricing: 'free', ...(kind === 'chat' ? chat : {}) }));
  writeFileSync(
    file,
    JSON.stringify({
      rerankerModel: 'ranks',
      titleModel: null,
      providers: { acme: { kind: 'openai', baseUrl: upstream.baseUrl, ...provider } },
      models,
    }),
  );
  const platform = await startTestPlatform({
    listen: true,
    environment: { MODELS_FILE: file, ...environment },
    ...(logger === undefined ? {} : { logger }),
  });
  const stop = async (): Promise<void> => {
    await platform.stop();
    await upstream.stop();
    rmSync(folder, { recursive: true });
  };
  return { upstream, platform, baseUrl: `${platform.url}/api/compat/v1`, stop };
};
