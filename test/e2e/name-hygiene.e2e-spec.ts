import { processorTime } from '../fixtures/processor-time';
import { until } from '../fixtures/until';
import { ADMIN_KEY } from './harness';
import { documents, platform, withHygiene, world } from './hygiene-world';

withHygiene();

it('text of people is the same byte for byte in what it comes to, whatever stands in it', async () => {
  const words = `\u202eright\u202c \u200b\u{1f468}\u200d\u{1f469} a${'\u0301'.repeat(1_000)} \u{e0041} \ufeff \u0007 \ufffe \r\n\t${'\u2028'} \u00ad 𝔘`;
  const spaceId = world.ids['spaceId'] as string;
  const prompt = await platform.call<{ id: string; text: string }>(`/api/v1/core/spaces/${spaceId}/prompts`, {
    method: 'POST',
    body: { title: 'T', text: words },
  });
  expect(prompt.body.text).toBe(words);
  expect((await platform.call(`/api/v1/core/spaces/${spaceId}/prompts/${prompt.body.id}`)).body['text']).toBe(words);
  const [event] = (
    await platform.call<{ items: { data: { text: string } }[] }>(
      `/api/v1/audit/events?stream=prompt-${prompt.body.id}&content=true`,
    )
  ).body.items;
  expect(event?.data.text).toBe(words);
  const agent = await platform.call<{ systemPrompt: string }>(`/api/v1/core/agents/${world.ids['agentId']}/prompt`, {
    method: 'PUT',
    body: { systemPrompt: words },
  });
  expect(agent.body.systemPrompt).toBe(words);
  const document = await platform.call<{ id: string }>(documents, {
    method: 'POST',
    body: { name: 'a.md', content: words, mimeType: 'text/plain' },
  });
  const file = await fetch(`${platform.url}${documents}/${document.body.id}/file`, {
    headers: { 'x-api-key': ADMIN_KEY },
  });
  expect(Buffer.from(await file.arrayBuffer()).equals(Buffer.from(words))).toBe(true);
});

const NAMES: readonly (readonly [route: string, field: string, rest: object])[] = [
  ['/spaces', 'name', {}],
  ['/spaces/:spaceId/prompts', 'title', { text: 'x' }],
  ['/agents', 'name', {}],
  ['/users', 'name', { email: 'hygiene@example.com', role: 'member' }],
  ['/api-keys', 'name', { agentIds: [], permissions: [] }],
  ['/knowledge/:agentId/tags', 'name', {}],
  ['/knowledge/:agentId/documents', 'name', { content: 'x', mimeType: 'text/plain' }],
];

it.each(NAMES)('no name at %s holds what deceives the eye', async (url, field, rest) => {
  for (const name of [
    'a\u202eb',
    'a\u2066b',
    'a\u0007b',
    'a\nb',
    'a\r\nset-cookie: x',
    '\u001b[2Ja',
    'a\u{e0041}',
    '\u200b',
    ' ',
    `a${'\u0301'.repeat(100_000)}`,
    'x'.repeat(501),
  ]) {
    const { status, body } = await platform.call<{ errors?: { path: string }[] }>(
      world.path({ url: `/api/v1/core${url}` }),
      { method: 'POST', body: { ...rest, [field]: name } },
    );
    expect([JSON.stringify(name.slice(0, 20)), status, body.errors?.[0]?.path]).toEqual([
      JSON.stringify(name.slice(0, 20)),
      400,
      field,
    ]);
  }
});

it.each(['a\n', 'A', 'é', 'a b', 'a/b', '../a', '%61', 'a\u0000', '', 'a'.repeat(1_000_000)])(
  'a slug is lower-case letters, digits and hyphens from its first to its last character: %#',
  async (slug) => {
    let fastest = Infinity;
    for (let time = 0; time < 3; time += 1) {
      const spent = processorTime();
      expect(
        await platform.call('/api/v1/core/spaces', { method: 'POST', body: { name: 'Slugs', slug } }),
      ).toMatchObject({ status: 400, body: { errors: [{ path: 'slug' }] } });
      fastest = Math.min(fastest, spent());
    }
    expect(fastest).toBeLessThan(50);
  },
);

it.each([
  ['../../etc/passwd', '../../etc/passwd'],
  ['..\\..\\boot.ini', '..\\..\\boot.ini'],
  ['CON', 'CON'],
  ['a\';b"c.md', 'a\';b"c.md'],
  ['Größe 1.md', 'Größe 1.md'],
  ['<img src=x onerror=alert(1)>.html', '<img src=x onerror=alert(1)>.html'],
])('a file called %j is stored under a name of ours, and offered in one line', async (name, shown) => {
  const form = new FormData();
  form.append('name', name);
  form.append('file', new Blob(['<script>alert(1)</script>'], { type: 'text/html' }), 'a.html');
  const uploaded = await fetch(`${platform.url}${documents}`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY },
    body: form,
  });
  const { items } = (await uploaded.json()) as { items: { id: string; name: string }[] };
  expect([uploaded.status, items[0]?.name]).toEqual([202, shown]);
  const names = await platform.platform.host.stores.blobs.list(null, 1_000);
  expect(names.filter((one) => !/^[\w-]+$/.test(one))).toEqual([]);
  const file = await fetch(`${platform.url}${documents}/${items[0]?.id}/file`, { headers: { 'x-api-key': ADMIN_KEY } });
  expect(
    Object.fromEntries(
      ['content-type', 'x-content-type-options', 'content-security-policy', 'cross-origin-resource-policy'].map(
        (header) => [header, file.headers.get(header)],
      ),
    ),
  ).toEqual({
    'content-type': 'application/octet-stream',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
    'cross-origin-resource-policy': 'same-origin',
  });
  const disposition = file.headers.get('content-disposition') ?? '';
  expect(disposition).toMatch(/^attachment; filename\*=UTF-8''[\w.!~%-]+$/);
  expect(decodeURIComponent(disposition.slice(disposition.indexOf("''") + 2))).toBe(shown);
  expect(await file.text()).toBe('<script>alert(1)</script>');
});

it.each(['a\r\nset-cookie: x=1.md', 'a\u202efdp.exe', 'a\u0000.md', 'x'.repeat(4_096)])(
  'a file is not taken under the name %#',
  async (name) => {
    const own = name.includes('\n') ? [] : [`name="file"; filename="${name}"`];
    for (const part of [
      `name="name"\r\n\r\n${name}\r\n--B\r\ncontent-disposition: form-data; name="file"; filename="a.md"`,
      ...own,
    ]) {
      const payload = Buffer.from(`--B\r\ncontent-disposition: form-data; ${part}\r\n\r\nwhole\r\n--B--\r\n`);
      expect(
        (
          await platform.call(documents, {
            method: 'POST',
            payload,
            headers: { 'content-type': 'multipart/form-data; boundary=B' },
          })
        ).status,
      ).toBe(400);
    }
  },
);

test('what was sent above left the product as it was', async () => {
  expect((await platform.call('/health/live', { key: null })).body).toEqual({ status: 'up' });
  await until(async () => (await platform.call<{ status: string }>('/health')).body.status === 'up', 'health');
});
