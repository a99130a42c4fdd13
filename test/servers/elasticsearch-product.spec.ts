import { setTimeout as lasting } from 'node:timers/promises';
import { startTestPlatform, type TestPlatform } from '../e2e/harness';
import { searchesWithinPeriods, tallied } from '../e2e/ready-periods';
import { awayMs } from '../faults/log/rounds';
import { until } from '../fixtures/until';
import { type Instance, instanceOn } from './elasticsearch-instance';
import { type HttpProxy, proxyTo } from './http-proxy';
import { withServer } from './with-server';

/** Rule 25 and 26 of the faults: what the product does when its search is away. */
withServer('ELASTICSEARCH_URL', 'the product on Elasticsearch', (url) => {
  let instance: Instance;
  let proxy: HttpProxy;
  let platform: TestPlatform;
  let agentId: string;
  const core = (path: string): string => `/api/v1/core${path}`;
  const post = <T = { id: string }>(path: string, body: object) =>
    platform.call<T>(core(path), { method: 'POST', body });
  const search = (query: string) =>
    post<{ items: { text: string }[] }>(`/knowledge/${agentId}/search`, { query, mode: 'text' });
  const add = async (content: string): Promise<string> =>
    (await post(`/knowledge/${agentId}/documents`, { name: 'a.md', content, mimeType: 'text/markdown' })).body.id;
  const status = async (id: string): Promise<string> =>
    (await platform.call<{ status: string }>(core(`/knowledge/${agentId}/documents/${id}`))).body.status;
  const isReady = (id: string) => async (): Promise<boolean> => (await status(id)) === 'Ready';

  beforeAll(async () => {
    instance = instanceOn(url);
    proxy = await proxyTo(url);
    platform = await startTestPlatform({ environment: { ELASTICSEARCH_URL: instance.urlOf(proxy.url) } });
    const { body } = await post('/spaces', { name: 'Searchers' });
    agentId = (await post('/agents', { spaceId: body.id, name: 'Guide', knowledgeEnabled: true })).body.id;
  });
  afterAll(async () => {
    await platform.stop();
    await proxy.leave();
    await instance.destroy();
  });

  it('says that a document is ready when it is found, not before', async () => {
    let bulks = 0;
    const letGo = Promise.withResolvers<void>();
    proxy.meddle = ({ path }) => {
      if (!path.includes('/_bulk')) return 'pass';
      bulks += 1;
      return letGo.promise.then(() => 'pass');
    };
    const id = await add('The quokka sleeps.');
    await until(() => bulks > 0, 'the write of the passages');
    expect([await status(id), (await search('quokka')).body.items]).toEqual(['Processing', []]);
    letGo.resolve();
    await until(isReady(id), 'the document');
    expect((await search('quokka')).body.items).toHaveLength(1);
  });

  it('finds what was edited, and nothing of what is disabled', async () => {
    const id = await add('# Bilbies\n\nThe bilby hops.\n\n# Dunnarts\n\nThe dunnart hides.');
    await until(isReady(id), 'the document');
    const path = core(`/knowledge/${agentId}/documents/${id}`);
    const put = (to: string, body: object) => platform.call(to, { method: 'PUT', body });
    const [bilbies, dunnarts] = (await platform.call<{ items: { id: string }[] }>(`${path}/chunks`)).body.items;
    const texts = async (query: string): Promise<readonly string[]> =>
      (
        await Promise.all(
          ['text', 'vector', 'hybrid'].map((mode) =>
            post<{ items: { text: string }[] }>(`/knowledge/${agentId}/search`, { query, mode, topK: 100 }),
          ),
        )
      ).flatMap(({ body }) => body.items.map(({ text }) => text));
    await put(`${path}/chunks/${bilbies?.id}`, { text: 'The potoroo smiles.' });
    expect((await texts('potoroo smiles')).filter((text) => text === 'The potoroo smiles.')).toHaveLength(3);
    expect(await texts('bilby hops')).not.toContain('The bilby hops.');
    await put(`${path}/chunks/${dunnarts?.id}`, { enabled: false });
    expect(await texts('dunnart hides')).not.toContain('The dunnart hides.');
    await put(`${path}/chunks/${dunnarts?.id}`, { enabled: true });
    expect((await texts('dunnart hides')).filter((text) => text === 'The dunnart hides.')).toHaveLength(3);
    await put(path, { enabled: false });
    const all = await texts('potoroo smiles dunnart hides');
    expect(all.filter((text) => /potoroo|dunnart/.test(text))).toEqual([]);
    await put(path, { enabled: true });
    expect((await texts('potoroo smiles')).filter((text) => text === 'The potoroo smiles.')).toHaveLength(3);
    await platform.call(path, { method: 'DELETE' });
  });

  it(
    'goes on without search: searches answer 503, documents wait, and are found once it is back',
    async () => {
      proxy.meddle = () => 'pass';
      await proxy.leave();
      expect(await search('quokka')).toMatchObject({ status: 503, body: { code: 'unavailable' } });
      expect(await platform.call('/health')).toMatchObject({
        status: 200,
        body: {
          status: 'degraded',
          dependencies: {
            searchIndex: { ok: false, reason: expect.any(String) as string },
            log: { ok: true },
            readStore: { ok: true },
          },
        },
      });
      expect((await platform.call('/health/ready', { key: null })).status).toBe(200);
      const ids = [await add('The wombat digs.'), await add('The echidna walks.')];
      expect([
        (await post('/spaces', { name: 'Meanwhile' })).status,
        (await platform.call(core('/agents'))).status,
      ]).toEqual([201, 200]);
      await lasting(awayMs(1));
      expect(await Promise.all(ids.map(status))).not.toContain('Ready');
      await proxy.comeBack();
      for (const id of ids) await until(isReady(id), 'a document');
      await until(async () => (await platform.call<{ status: string }>('/health')).body.status === 'up', 'health');
      expect(
        (await Promise.all(['quokka', 'wombat', 'echidna'].map(search))).map(({ body }) => body.items.length),
      ).toEqual([1, 1, 1]);
      const { count } = await instance.client.count({
        index: `${instance.prefix}-passages`,
        query: { term: { kind: 'passage' } },
      });
      expect(count).toBe(3);
    },
    120_000 + awayMs(1) * 2,
  );

  it('waits for a full queue', async () => {
    let rejections = 0;
    proxy.meddle = ({ path }) =>
      path.includes('/_bulk') && (rejections += 1) <= 3
        ? { status: 429, body: { status: 429, error: { type: 'es_rejected_execution_exception' } } }
        : 'pass';
    const id = await add('The numbat hunts.');
    await until(isReady(id), 'the document');
    expect([rejections > 3, (await search('numbat')).body.items.length]).toEqual([true, 1]);
  });

  it('finds a document while it is Ready and never while it is not, through 200 replacements, re-processes and failures', async () => {
    proxy.meddle = () => 'pass';
    for (const { mode, ready, notReady } of tallied(await searchesWithinPeriods(platform, 200))) {
      expect({ mode, missed: ready.missed, found: notReady.found }).toEqual({ mode, missed: 0, found: 0 });
      expect(Math.min(ready.found, notReady.missed)).toBeGreaterThan(20);
    }
  }, 600_000);
});
