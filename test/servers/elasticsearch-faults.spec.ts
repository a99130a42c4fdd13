import { isUnavailable } from '@app/kernel';
import { CheckpointMismatch } from '@app/read-store';
import type { SearchIndex, SearchOperation } from '@app/search-index';
import { vectorField } from '../../libs/search-index/src/elasticsearch/index-names';
import { direction, passage, putDocument, TestIndex } from '../../libs/search-index/src/test-index.contract';
import { ownTime } from '../fixtures/own-time';
import { type Instance, instanceOn } from './elasticsearch-instance';
import { type Fate, type HttpProxy, proxyTo } from './http-proxy';
import { withServer } from './with-server';

withServer('ELASTICSEARCH_URL', 'Elasticsearch that fails', (url) => {
  let instance: Instance;
  let proxy: HttpProxy;
  /** Through the proxy, and past it. */
  let meddled: TestIndex;
  let direct: TestIndex;

  beforeEach(async () => {
    instance = instanceOn(url);
    proxy = await proxyTo(url);
    meddled = new TestIndex('passages', await instance.open(proxy.url));
    direct = new TestIndex('passages', await instance.open());
    await direct.index.prepare('passages', 1);
    await direct.index.swap('passages', undefined, 1);
  });
  afterEach(async () => {
    await proxy.leave();
    await instance.destroy();
  });

  const failure = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'nothing failed',
      (error: unknown) => error,
    );
  const put = (documentId: string, text: string): SearchOperation =>
    putDocument(documentId, [
      passage(`${documentId}-1`, text, { vector: direction(1) }),
      passage(`${documentId}-2`, text),
    ]);
  const isBulk = (path: string): boolean => path.includes('/_bulk');
  const isCheckpoint = (path: string): boolean => path.includes('checkpoint');
  /** Does something to the first request that is asked for. */
  const once = (asked: (path: string) => boolean, fate: () => Fate | Promise<Fate>): void => {
    let met = false;
    proxy.meddle = async ({ path }) => {
      if (met || !asked(path)) return 'pass';
      met = true;
      return fate();
    };
  };
  /** Holds the first request that is asked for, until it is let go. */
  const holding = (asked: (path: string) => boolean): { readonly held: Promise<void>; letGo(): void } => {
    const [held, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    once(asked, () => {
      held.resolve();
      return letGo.promise.then(() => 'pass');
    });
    return { held: held.promise, letGo: letGo.resolve };
  };

  it('is away: searches and writes are unavailable, health says so, and all is there when it comes back', async () => {
    await meddled.apply([put('d1', 'alpha')]);
    await proxy.leave();
    expect(
      [await failure(meddled.search('alpha')), await failure(meddled.apply([put('d2', 'alpha')]))].map(isUnavailable),
    ).toEqual([true, true]);
    expect(await meddled.index.health()).toEqual({ ok: false, reason: 'Elasticsearch cannot be reached' });
    await proxy.comeBack();
    await meddled.apply([put('d2', 'alpha')]);
    expect([
      await meddled.index.health(),
      (await meddled.found('alpha')).length,
      await meddled.index.count('passages', 1),
    ]).toEqual([{ ok: true }, 4, { documents: 2, passages: 4 }]);
  });

  it('does not answer: health is told in time', async () => {
    const { letGo } = holding(() => true);
    const took = ownTime();
    expect(await meddled.index.health()).toEqual({ ok: false, reason: 'Elasticsearch did not answer in time' });
    expect(took()).toBeLessThan(4_000);
    letGo();
  });

  it.each([
    ['search', '/_search'],
    ['read', '/_mget'],
  ])('is busy for a moment when asked to %s', async (_, path) => {
    await direct.apply([put('d1', 'alpha')]);
    once(
      (asked) => asked.includes(path),
      () => ({
        status: 429,
        body: { status: 429, error: { type: 'circuit_breaking_exception', reason: 'alpha is too large' } },
      }),
    );
    expect(await meddled.found('alpha')).toHaveLength(2);
  });

  it('closes a connection: the call is made again', async () => {
    once(isBulk, () => 'lose-answer');
    await meddled.apply([put('d1', 'alpha')]);
    expect(await meddled.found('alpha')).toEqual(['d1-1', 'd1-2']);
  });

  it('loses the answer to a batch: the batch is done again and is there once', async () => {
    proxy.meddle = ({ path }) => (isBulk(path) ? 'lose-answer' : 'pass');
    expect(isUnavailable(await failure(meddled.apply([put('d1', 'alpha')])))).toBe(true);
    proxy.meddle = () => 'pass';
    await meddled.apply([put('d1', 'alpha')]);
    expect([await meddled.index.count('passages', 1), await meddled.found('alpha')]).toEqual([
      { documents: 1, passages: 2 },
      ['d1-1', 'd1-2'],
    ]);
  });

  it('loses the answer to a checkpoint: the writer learns where it stands', async () => {
    proxy.meddle = ({ path }) => (isCheckpoint(path) ? 'lose-answer' : 'pass');
    expect(isUnavailable(await failure(meddled.apply([put('d1', 'alpha')])))).toBe(true);
    proxy.meddle = () => 'pass';
    await expect(meddled.apply([put('d1', 'alpha')], { from: null })).rejects.toThrow(CheckpointMismatch);
    expect([await meddled.index.checkpoint('passages', 1), await meddled.found('alpha')]).toEqual([
      { position: '000001', handled: 1 },
      ['d1-1', 'd1-2'],
    ]);
  });

  /** A document that takes several requests, of which two passages are searched. */
  const long = (word: string, scope = 's:1'): SearchOperation =>
    putDocument(
      'd1',
      Array.from({ length: 50 }, (_, n) =>
        passage(`${word}${n}`, `${word} ${'x'.repeat(n % 49 === 0 ? 10 : 100_000)}`, { enabled: n % 49 === 0 }),
      ),
      { scope },
    );

  it('is shown at each step of a put: the document is found as it was, then as it is', async () => {
    await direct.apply([long('alpha')]);
    const states: (readonly string[])[] = [];
    let requests = 0;
    proxy.meddle = async ({ path }): Promise<Fate> => {
      if (!isBulk(path)) return 'pass';
      requests += 1;
      // Another writer refreshes.
      await direct.index.count('passages', 1);
      states.push(await direct.found('alpha beta', { limit: 2 }));
      return 'pass';
    };
    await meddled.apply([long('beta')]);
    states.push(await direct.found('alpha beta', { limit: 2 }));
    const before = ['alpha0', 'alpha49'];
    const after = ['beta0', 'beta49'];
    // The last request takes away what was replaced.
    expect(states).toEqual([...Array.from({ length: requests - 1 }, () => before), after, after]);
    expect(requests).toBeGreaterThan(2);
    expect(await direct.index.count('passages', 1)).toEqual({ documents: 1, passages: 50 });
  });

  it('is shown at each step of a move to another scope: the document is found in one of both, whole', async () => {
    await direct.apply([long('alpha')]);
    const seen = async () => [
      await direct.found('alpha', { limit: 2 }),
      await direct.found('alpha', { limit: 2, scopes: ['s:2'] }),
    ];
    const states: (readonly (readonly string[])[])[] = [];
    proxy.meddle = async ({ path }): Promise<Fate> => {
      if (!isBulk(path)) return 'pass';
      await direct.index.count('passages', 1);
      states.push(await seen());
      return 'pass';
    };
    await meddled.apply([long('alpha', 's:2')]);
    states.push(await seen());
    const whole = ['alpha0', 'alpha49'];
    expect(states.length).toBeGreaterThan(3);
    // The last request takes away what was replaced.
    expect(states).toEqual([...states.slice(2).map(() => [whole, []]), [[], whole], [[], whole]]);
  });

  it('never misses a document that is put anew again and again, whoever refreshes meanwhile', async () => {
    await direct.apply([put('d1', 'alpha'), put('d2', 'alpha')]);
    let isOver = false;
    const during = async (work: () => Promise<void>): Promise<number> => {
      let times = 0;
      for (; !isOver; times += 1) await work();
      return times;
    };
    const found: (readonly string[])[] = [];
    const others = [
      during(async () => void (await direct.index.count('passages', 1))),
      during(async () => void found.push((await direct.found('alpha')).toSorted())),
    ];
    for (let round = 0; round < 60; round += 1) await meddled.apply([put('d1', 'alpha'), put('d2', 'alpha')]);
    isOver = true;
    expect((await Promise.all(others)).every((times) => times > 20)).toBe(true);
    for (const passages of found) expect(passages).toEqual(['d1-1', 'd1-2', 'd2-1', 'd2-2']);
  });

  it('breaks off in the middle of a document: nothing of it is mixed with what was there, and the end is the same', async () => {
    await direct.apply([long('alpha')]);
    let requests = 0;
    proxy.meddle = ({ path }) => (isBulk(path) && (requests += 1) > 1 ? 'cut' : 'pass');
    expect(isUnavailable(await failure(meddled.apply([long('beta')])))).toBe(true);
    proxy.meddle = () => 'pass';
    // What no search sees yet is shown to all by the refresh of a count.
    await direct.index.count('passages', 1);
    expect(await direct.found('alpha beta')).toEqual(['alpha0', 'alpha49']);
    await meddled.apply([long('beta')]);
    await direct.index.prepare('passages', 2);
    await direct.apply([long('beta')], { version: 2 });
    expect(await direct.index.scan('passages', 1, null, 10)).toEqual(await direct.index.scan('passages', 2, null, 10));
  });

  it('lets an overtaken writer change nothing: what was removed meanwhile stays removed', async () => {
    const { held, letGo } = holding(isBulk);
    const overtaken = failure(meddled.apply([put('d1', 'alpha')]));
    await held;
    await direct.apply([put('d1', 'alpha')], { fence: 2 });
    await direct.apply([{ op: 'removeDocument', documentId: 'd1' }], { fence: 2 });
    letGo();
    expect(await overtaken).toMatchObject({ name: 'CheckpointMismatch' });
    expect([await direct.found('alpha'), await direct.index.count('passages', 1)]).toEqual([
      [],
      { documents: 0, passages: 0 },
    ]);
  });

  it('keeps a scope removed, whichever slice was faster', async () => {
    const { held, letGo } = holding(isBulk);
    const slower = meddled.apply([put('d1', 'alpha')], { slice: 1, from: null });
    await held;
    const to = { position: '000005', handled: 1 };
    await direct.apply([], {
      slice: 2,
      from: null,
      to,
      changes: [{ position: to.position, operations: [{ op: 'removeScope', scope: 's:1' }] }],
    });
    letGo();
    await slower;
    expect([await direct.found('alpha'), await direct.index.count('passages', 1)]).toEqual([
      [],
      { documents: 0, passages: 0 },
    ]);
  });

  it('has a field of another type: the document is rejected as poison, without its text, and the others go on', async () => {
    await instance.client.indices.putMapping({
      index: `${instance.prefix}-passages-v1`,
      properties: { [vectorField('small', 4)]: { type: 'keyword' } },
    });
    const error = await failure(meddled.apply([put('d1', 'unspeakable')]));
    expect([isUnavailable(error), (error as Error).name]).toEqual([false, 'Rejection']);
    expect(String(error)).not.toContain('unspeakable');
    await meddled.apply([putDocument('d2', [passage('c2', 'alpha')])]);
    expect([await meddled.found('alpha'), await meddled.index.health()]).toEqual([['c2'], { ok: true }]);
  });

  it('makes no index in the place of a version that was dropped', async () => {
    const { held, letGo } = holding(isBulk);
    const late = failure(meddled.apply([put('d1', 'alpha')]));
    await held;
    await direct.index.drop('passages', 1);
    letGo();
    expect(isUnavailable(await late)).toBe(true);
    expect(await direct.index.versions('passages')).toEqual([]);
  });

  it('serves one of two versions that are made live at once', async () => {
    const others: readonly SearchIndex[] = [await instance.open(), await instance.open()];
    for (const version of [1, 2]) await direct.index.prepare('race', version);
    const outcomes = await Promise.all(others.map((index, n) => index.swap('race', undefined, n + 1)));
    expect(outcomes.toSorted()).toEqual([false, true]);
    expect(await direct.index.live('race')).toBe(outcomes.indexOf(true) + 1);
  });

  it('can be prepared by two at once', async () => {
    await Promise.all([meddled.index.prepare('both', 1), direct.index.prepare('both', 1)]);
    expect(await direct.index.versions('both')).toEqual([1]);
  });
});
