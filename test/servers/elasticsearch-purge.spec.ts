import { direction, passage, putDocument, TestIndex } from '../../libs/search-index/src/test-index.contract';
import { instanceOn } from './elasticsearch-instance';
import { withServer } from './with-server';

withServer('ELASTICSEARCH_URL', 'What Elasticsearch keeps on its disks', (url) => {
  it('keeps nothing on disk that was removed, once purged', async () => {
    const instance = instanceOn(url);
    const index = new TestIndex('passages', await instance.open());
    await index.index.prepare('passages', 1);
    for (let round = 0; round < 3; round += 1)
      await index.apply(
        [0, 1, 2].map((n) =>
          putDocument(`d${round}-${n}`, [passage('c1', `secret ${n}`, { vector: direction(n, 1) })]),
        ),
      );
    await index.apply([
      { op: 'removeDocument', documentId: 'd0-1' },
      { op: 'removeDocument', documentId: 'd2-2' },
    ]);
    const removed = async (): Promise<number | undefined> => {
      await index.index.count('passages', 1);
      return (await instance.client.indices.stats({ index: `${instance.prefix}-passages-v1` }))._all.primaries?.docs
        ?.deleted;
    };
    expect(await removed()).toBeGreaterThan(0);
    await index.index.purge();
    expect([await removed(), await index.index.count('passages', 1)]).toEqual([0, { documents: 7, passages: 7 }]);
    await instance.destroy();
  });

  it('purges nothing from an index that is away, and says so', async () => {
    const instance = instanceOn(url);
    const index = new TestIndex('passages', await instance.open());
    await index.index.prepare('passages', 1);
    await index.apply([putDocument('d1', [passage('c1', 'secret')]), putDocument('d2', [passage('c2', 'beta')])]);
    await index.apply([{ op: 'removeDocument', documentId: 'd1' }]);
    const name = `${instance.prefix}-passages-v1`;
    const standsOn = async (node: string | null): Promise<void> => {
      const settings = { 'index.routing.allocation.require._name': node };
      await instance.client.indices.putSettings({ index: name, settings });
      await instance.client.indices.close({ index: name, wait_for_active_shards: 0 });
      await instance.client.indices.open({ index: name, wait_for_active_shards: 0 });
    };
    await standsOn('none');
    await expect(index.index.purge()).rejects.toThrow('an index is away');
    await standsOn(null);
    await instance.client.cluster.health({ index: name, wait_for_status: 'green' });
    await index.index.purge();
    expect((await instance.client.indices.stats({ index: name }))._all.primaries?.docs?.deleted).toBe(0);
    await instance.destroy();
  });

  it('tells of a closed index, which searches, health and purges would pass over', async () => {
    const instance = instanceOn(url);
    const index = new TestIndex('passages', await instance.open());
    await index.index.prepare('passages', 1);
    await index.index.swap('passages', undefined, 1);
    await index.apply([putDocument('d1', [passage('c1', 'secret')])]);
    const name = `${instance.prefix}-passages-v1`;
    await instance.client.indices.close({ index: name });
    const reason = 'an index is closed in Elasticsearch; open it';
    expect(await index.index.health()).toEqual({ ok: false, reason });
    for (const work of [
      () => index.index.purge(),
      () => index.search('secret'),
      () => index.apply([putDocument('d2', [passage('c2', 'secret')])]),
    ])
      await expect(work()).rejects.toMatchObject({ name: 'Unavailable', reason });
    await instance.client.indices.open({ index: name });
    await instance.client.cluster.health({ index: name, wait_for_status: 'green' });
    expect([await index.index.health(), await index.found('secret')]).toEqual([{ ok: true }, ['c1']]);
    await instance.destroy();
  });

  it('leaves the indexes of an instance alone whose prefix begins with its own', async () => {
    const instance = instanceOn(url);
    const index = new TestIndex('passages', await instance.open());
    await index.index.prepare('passages', 1);
    const other = `${instance.prefix}-very-passages-v1`;
    await instance.client.indices.create({ index: other, aliases: { [`${other}-writer`]: {} } });
    await instance.client.indices.close({ index: other });
    expect(await index.index.health()).toEqual({ ok: true });
    await index.index.purge();
    await instance.client.indices.open({ index: other });
    await instance.client.indices.putSettings({
      index: other,
      settings: { 'index.routing.allocation.require._name': 'none' },
    });
    await instance.client.indices.close({ index: other, wait_for_active_shards: 0 });
    await instance.client.indices.open({ index: other, wait_for_active_shards: 0 });
    expect(await index.index.health()).toEqual({ ok: true });
    await index.index.purge();
    await instance.destroy();
  });
});
