import { randomUUID } from 'node:crypto';
import type { Ask } from '../e2e/asking';
import { startTestPlatform, type TestPlatform } from '../e2e/harness';
import { instanceOn } from './elasticsearch-instance';
import { startEventStoreDouble } from './eventstoredb/double';
import { expectAnswer, mainJob } from './main-job';

/** Each server alone beside stores that are embedded: the product starts, does its main job, rebuilds, and starts again on what it kept. */

const CORE = '/api/v1/core';
const LONG = 180_000;

interface Opened {
  /** What to start the product with. */
  readonly environment: Readonly<Record<string, string>>;
  readonly end?: () => Promise<void>;
}

/** A place of its own on each server; the log is a double's, since that of a server cannot be emptied. */
const places: Readonly<Record<string, (url: string) => Promise<Opened>>> = {
  EVENTSTORE_URL: async () => {
    const { url, stop } = await startEventStoreDouble();
    return { environment: { EVENTSTORE_URL: url }, end: stop };
  },
  MONGODB_URL: async (url) => ({ environment: { MONGODB_URL: withPath(url, `mixed-${randomUUID()}`) } }),
  ELASTICSEARCH_URL: async (url) => {
    const instance = instanceOn(url);
    return { environment: { ELASTICSEARCH_URL: instance.urlOf() }, end: () => instance.destroy() };
  },
  S3_URL: async (url) => ({ environment: { S3_URL: withPath(url, `mixed-${randomUUID()}`) } }),
  KAFKA_BROKERS: async (brokers) => ({
    environment: { KAFKA_BROKERS: brokers, KAFKA_TOPIC_PREFIX: `mixed-${randomUUID()}.` },
  }),
};

const withPath = (url: string, path: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${path}`;
  return changed.href;
};

const asking =
  ({ call }: TestPlatform): Ask =>
  ({ path, ...given }) =>
    call(path, given);

describe.each(Object.entries(places))('%s beside embedded stores', (variable, open) => {
  const url = process.env[variable] ?? '';
  if (url === '' && variable !== 'EVENTSTORE_URL') it.todo(`skipped: ${variable} is not set`);
  else
    it(
      'the product does its main job, and finds it again at the next start',
      async () => {
        const { environment, end } = await open(url);
        const first = await startTestPlatform({ environment });
        const agentId = await mainJob(asking(first));
        expect((await first.call<{ status: string }>('/health')).body.status).toBe('up');
        await first.stop({ keep: true });
        const second = await startTestPlatform({ environment, dataDir: first.dataDir });
        expect((await second.call<{ name: string }>(`${CORE}/agents/${agentId}`)).body.name).toBe('Guide');
        await expectAnswer(asking(second), agentId);
        await second.stop();
        await end?.();
      },
      LONG,
    );
});
