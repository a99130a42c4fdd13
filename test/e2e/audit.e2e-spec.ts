import { createHash } from 'node:crypto';
import { apiKeyDecider } from '@app/identity';
import { until } from '../fixtures/until';
import { follow } from './follow';
import { agentId, auditor, object, type Page, platform, withAudited } from './audited-world';

withAudited();

interface Event {
  readonly id: string;
  readonly position: string;
  readonly ordinal: number | null;
  readonly stream: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly meta: Readonly<Record<string, string>>;
  readonly recordedAt: string;
  readonly raw?: { readonly data: string; readonly metadata: string };
}

const events = async (query: string, key?: string) =>
  platform.call<Page<Event>>(`/api/v1/audit/events${query}`, key === undefined ? {} : { key });

const ofAgent = () => `?stream=agent-${agentId}`;
/** Every event a list holds, following its cursors. */
const everything = async (query: string): Promise<Event[]> => {
  const found: Event[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await events(`${query}${cursor === '' ? '' : `&cursor=${cursor}`}`);
    found.push(...body.items);
    cursor = body.nextCursor;
  }
  return found;
};

describe('the events of the log', () => {
  it('are listed newest first, page by page, none twice and none left out', async () => {
    const all = await everything('?limit=100');
    const paged = await everything('?limit=3');
    expect(paged.slice(-all.length).map(({ position }) => position)).toEqual(all.map(({ position }) => position));
    expect(all.map(({ position }) => position)).toEqual(
      all
        .map(({ position }) => position)
        .toSorted()
        .toReversed(),
    );
    const forwards = await everything('?limit=4&order=asc');
    expect(forwards.slice(0, all.length).map(({ id }) => id)).toEqual(all.toReversed().map(({ id }) => id));
  });

  it.each([
    ['stream', (event: Event) => event.stream],
    ['type', (event: Event) => event.type],
    ['category', (event: Event) => event.stream.slice(0, event.stream.indexOf('-'))],
    ['actor', (event: Event) => event.meta['actor']],
    ['correlationId', (event: Event) => event.meta['$correlationId']],
  ])('are filtered by %s, equal to filtering the whole log', async (filter, value) => {
    const wanted = encodeURIComponent(String(value((await events(ofAgent())).body.items[0] as Event)));
    const before = (await events('?limit=1')).body.items[0]?.position ?? '';
    const expected = (await everything('?limit=100')).filter(
      (event) => event.position <= before && value(event) === decodeURIComponent(wanted),
    );
    const found = (await everything(`?${filter}=${wanted}&limit=2`)).filter(({ position }) => position <= before);
    expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
    expect(found.length).toBeGreaterThan(0);
  });

  it('are filtered by the time they were recorded, both ends included', async () => {
    const [last, first] = (await events(ofAgent())).body.items as [Event, Event];
    const span = (from: string, to: string) => events(`${ofAgent()}&from=${from}&to=${to}`);
    expect((await span(first.recordedAt, last.recordedAt)).body.items).toHaveLength(2);
    expect((await span(first.recordedAt, first.recordedAt)).body.items.map(({ id }) => id)).toEqual([first.id]);
    expect((await span('2020-01-01T00:00:00Z', '2020-01-02T00:00:00Z')).body.items).toEqual([]);
    expect((await events('?from=2020-01-01T00:00:00Z&limit=1')).body.items).toHaveLength(1);
    expect((await events('?to=9999-12-31T23:59:59Z&limit=1')).body.items).toHaveLength(1);
  });

  it.each([
    '?limit=0',
    '?order=up',
    '?from=yesterday',
    '?to=9999-12-31T23:59:59-01:00',
    '?after=nowhere',
    '?unknown=1',
    '?follow=maybe',
    '?stream=',
  ])('reject %s', async (query) => {
    const { status, body } = await events(query);
    expect([status, body]).toEqual([400, expect.objectContaining({ code: 'invalid_parameter' })]);
  });

  it('get their ordinals once they are sealed, and a proof that leads to the seal', async () => {
    const [event] = (await events(ofAgent())).body.items as [Event];
    await until(async () => (await events(ofAgent())).body.items.every(({ ordinal }) => ordinal !== null));
    const { status, body } = await platform.call<{
      event: { id: string; content: string };
      path: string[];
      seal: { root: string; ordinal: number };
    }>(`/api/v1/audit/proof/${event.id}`);
    expect([status, body.event.id]).toEqual([200, event.id]);
    const seals =
      await platform.call<Page<{ ordinal: number; root: string; signature: string }>>('/api/v1/audit/seals');
    expect(seals.body.items.map(({ root }) => root)).toContain(body.seal.root);
    expect((await platform.call('/api/v1/audit/seals/key')).body).toMatchObject({ algorithm: 'Ed25519' });
    expect(
      (await platform.call<Page<unknown>>(`/api/v1/audit/seals?after=${seals.body.items.at(-1)?.ordinal ?? 0}`)).status,
    ).toBe(200);
    expect((await platform.call('/api/v1/audit/proof/00000000-0000-7000-8000-000000000000')).status).toBe(404);
  });

  it('carry the stored bytes where asked for', async () => {
    const [event] = (await events(`${ofAgent()}&raw=true`)).body.items as [Event];
    expect(JSON.parse(Buffer.from(event.raw?.metadata ?? '', 'base64').toString())).toEqual(event.meta);
    expect(
      createHash('sha256')
        .update(Buffer.from(event.raw?.data ?? '', 'base64'))
        .digest('hex'),
    ).toHaveLength(64);
  });

  it('show nobody what was made of a secret, not in the stored bytes either', async () => {
    const { keyId } = await platform.newCaller();
    const { state } = await platform.platform.host.stores.decisions.load(apiKeyDecider, keyId);
    const hash = 'secretHash' in state ? state.secretHash : undefined;
    expect(hash).toMatch(/^[\w-]{20,}$/);
    const [created] = (await events(`?stream=apiKey-${keyId}&content=true&raw=true`)).body.items as [Event];
    expect(created.data).toMatchObject({ name: 'test', secretHash: { encrypted: true } });
    expect(Buffer.from(created.raw?.data ?? '', 'base64').toString()).not.toContain(hash);
  });

  it('are sent as they are recorded to who follows', async () => {
    const leave = new AbortController();
    const { headers, heard, ended } = await follow(
      `${platform.url}/api/v1/audit/events?follow=true&stream=agent-${agentId}`,
      auditor,
      leave.signal,
    );
    expect(headers.get('content-type')).toContain('text/event-stream');
    await until(() => heard.length > 0);
    await platform.call(`/api/v1/core/agents/${agentId}`, { method: 'PUT', body: { name: 'Followed' } });
    await until(() => heard.join('').includes('"type":"AgentChanged"'));
    const [, id = ''] = /^id: (\S+)$/m.exec(heard.join('')) ?? [];
    // Wherever a position may stand.
    const { body } = await events(`${ofAgent()}&order=asc&after=${id}`);
    expect(body.items).toEqual([]);
    expect((await platform.call(`/api/v1/audit/objects/agent/${agentId}?at=${id}`)).body).toMatchObject({
      name: 'Followed',
    });
    expect(heard.join('')).toMatch(/^id: \d+-[0-9a-f]{8}\n(.*\n)?data: .*"type":"AgentChanged"/m);
    leave.abort();
    await ended;
  });
});

describe('content', () => {
  it('reads as encrypted to who did not ask for it', async () => {
    const { body } = await events(`${ofAgent()}&order=asc`, auditor);
    expect(body.items[0]?.data).toMatchObject({ description: { encrypted: true }, systemPrompt: { encrypted: true } });
    expect(JSON.stringify(body)).not.toContain('secret plan');
  });

  it('is rejected without audit:content', async () => {
    expect((await events('?content=true', auditor)).status).toBe(403);
    expect((await object(`agent/${agentId}?content=true`, auditor)).status).toBe(403);
  });

  it('is shown with audit:content, and the look is an event itself', async () => {
    const { body } = await events(`${ofAgent()}&order=asc&content=true`);
    expect(body.items[0]?.data).toMatchObject({ description: 'a secret plan' });
    let look: Event | undefined;
    // Others looked before.
    const isOurs = ({ data: { asked } }: Event): boolean =>
      (asked as { stream?: string }).stream === `agent-${agentId}`;
    await until(
      async () => (look = (await events('?type=AuditorLookedAtContent')).body.items.find(isOurs)) !== undefined,
      'the look in the index',
    );
    expect(look?.data).toMatchObject({
      asked: { stream: `agent-${agentId}` },
      events: body.items.length,
      first: body.items[0]?.position,
    });
    expect(look?.meta['actor']).toMatch(/^key:/);
  });
});

describe('who may audit', () => {
  it.each(['/api/v1/audit/events', '/api/v1/audit/seals', '/api/v1/audit/objects/agent/1', '/api/v1/audit/proof/1'])(
    'members of a Space and operators may not: %s',
    async (path) => {
      const member = await platform.newCaller();
      const operator = await platform.newCaller({ role: 'operator', permissions: ['operations'] });
      expect([
        (await platform.call(path, { key: member.key })).status,
        (await platform.call(path, { key: operator.key })).status,
        (await platform.call(path, { key: null })).status,
      ]).toEqual([403, 403, 401]);
    },
  );
});
