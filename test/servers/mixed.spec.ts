import { randomUUID } from 'node:crypto';
import { startTestPlatform, type TestPlatform } from '../e2e/harness';
import { until } from '../fixtures/until';
import { instanceOn } from './elasticsearch-instance';
import { startEventStoreDouble } from './eventstoredb/double';

/** Each server alone beside stores that are embedded: the product starts, does its main job, rebuilds, and starts again on what it kept. */

const CORE = '/api/v1/core';
const OPERATIONS = '/api/v1/operations/projections';
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
  KAFKA_BROKERS: async (brokers) => ({ environment: { KAFKA_BROKERS: brokers, KAFKA_TOPIC_PREFIX: `mixed-${randomUUID()}.` } }),
};

const withPath = (url: string, path: string): string => {
  const changed = new URL(url);
  changed.pathname = `/${path}`;
  return changed.href;
};

const post = <T = { id: string }>({ call }: TestPlatform, path: string, body: object) => call<T>(path, { method: 'POST', body });

/** A question about a document is answered with the sentence that it cites. */
const ask = async (platform: TestPlatform, agentId: string): Promise<string> => {
  const { text } = await post(platform, `${CORE}/llm/${agentId}/conversation`, { message: 'When does the ferry leave?' });
  return text;
};

const mainJob = async (platform: TestPlatform): Promise<string> => {
  const space = (await post(platform, `${CORE}/spaces`, { name: 'Harbour' })).body.id;
  const agentId = (await post(platform, `${CORE}/agents`, { spaceId: space, name: 'Guide', model: 'local-chat', knowledgeEnabled: true })).body.id;
  const document = await post(platform, `${CORE}/knowledge/${agentId}/documents`, { name: 'ferries.md', content: '# Ferries\n\nThe ferry leaves at nine.', mimeType: 'text/markdown' });
  await until(async () => (await platform.call<{ status: string }>(`${CORE}/knowledge/${agentId}/documents/${document.body.id}`)).body.status === 'Ready', 'the document');
  expect(await ask(platform, agentId)).toContain('The ferry leaves at nine.');
  expect((await post(platform, `${OPERATIONS}/passages/rebuild`, { swap: true })).status).toBe(202);
  await until(async () => (await platform.call(`${OPERATIONS}/passages`)).text.includes('"swapped"'), 'the rebuild');
  expect(await ask(platform, agentId)).toContain('The ferry leaves at nine.');
  return agentId;
};

describe.each(Object.entries(places))('%s beside embedded stores', (variable, open) => {
  const url = process.env[variable] ?? '';
  if (url === '' && variable !== 'EVENTSTORE_URL') it.todo(`skipped: ${variable} is not set`);
  else
    it('the product does its main job, and finds it again at the next start', async () => {
      const { environment, end } = await open(url);
      const first = await startTestPlatform({ environment });
      const agentId = await mainJob(first);
      expect((await first.call<{ status: string }>('/health')).body.status).toBe('up');
      await first.stop({ keep: true });
      const second = await startTestPlatform({ environment, dataDir: first.dataDir });
      expect((await second.call<{ name: string }>(`${CORE}/agents/${agentId}`)).body.name).toBe('Guide');
      expect(await ask(second, agentId)).toContain('The ferry leaves at nine.');
      await second.stop();
      await end?.();
    }, LONG);
});
