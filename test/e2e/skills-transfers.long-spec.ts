import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { zipFile } from '../fixtures/files/office';
import { until } from '../fixtures/until';
import { startTestPlatform, type TestPlatform } from './harness';

const MIB = 1024 ** 2;
const SKILLS = '/api/v1/core/skills';

let product: TestPlatform;
beforeAll(async () => {
  // An upload has 1 MiB more, and each user as much as the largest one.
  product = await startTestPlatform({ environment: { SKILL_MAX_BYTES: String(2 * MIB) } });
});
afterAll(() => product.stop());

const newUser = async () => {
  const { key } = await product.newCaller();
  const { body } = await product.call<{ id: string }>('/api/v1/core/spaces', {
    method: 'POST',
    key,
    body: { name: `Space ${key.slice(-8)}` },
  });
  return { key, spaceId: body.id };
};
type User = Awaited<ReturnType<typeof newUser>>;
const archive = (name: string, bytes: number) =>
  zipFile({
    'SKILL.md': `---\nname: ${name}\ndescription: Use it.\n---\n\nDo it.\n`,
    'a.bin': randomBytes(bytes),
  });
const encoded = async ({ spaceId }: User, file: Buffer) => {
  const form = new FormData();
  form.append('scope', 'space');
  form.append('spaceId', spaceId);
  form.append('file', new Blob([new Uint8Array(file)]), 'a.zip');
  const body = new Response(form);
  return {
    type: body.headers.get('content-type') ?? '',
    bytes: Buffer.from(await body.arrayBuffer()),
  };
};
const upload = async (user: User, name: string, bytes: number, path = ''): Promise<number> => {
  const { type, bytes: payload } = await encoded(user, archive(name, bytes));
  const headers = { 'content-type': type };
  return (await product.call(`${SKILLS}${path}`, { method: 'POST', key: user.key, payload, headers })).status;
};

it('uploads of one user that are large wait for each other, before their bodies are read, and nobody else waits', async () => {
  const [user, other] = [await newUser(), await newUser()];
  const { type, bytes } = await encoded(user, archive('first', 1.8 * MIB));
  const sent = new PassThrough();
  const first = product.platform.app.inject({
    method: 'POST',
    url: SKILLS,
    headers: { 'x-api-key': user.key, 'content-type': type, 'content-length': bytes.length },
    payload: sent,
  });
  sent.write(bytes.subarray(0, MIB));
  await until(() => sent.readableLength === 0, 'the first body being read');
  const waiting = ['second', 'third', 'fourth'].map((name) => ({ name, ended: false }));
  const ends = waiting.map(async (each, at) => {
    const status = await upload(user, each.name, 1.4 * MIB, at === 1 ? '/import' : '');
    each.ended = true;
    return status;
  });
  for (const name of ['one', 'two', 'three']) expect(await upload(other, name, 1.4 * MIB)).toBe(201);
  expect(await upload(user, 'small', 100)).toBe(201);
  expect(waiting.filter(({ ended }) => ended)).toEqual([]);
  sent.end(bytes.subarray(MIB));
  expect((await first).statusCode).toBe(201);
  expect(await Promise.all(ends)).toEqual([201, 201, 201]);
});

it('the place of an upload that is refused or cut off is free again', async () => {
  const user = await newUser();
  const { type, bytes } = await encoded(user, archive('cut', 1.8 * MIB));
  for (const payload of [bytes.subarray(0, 1.5 * MIB), Buffer.alloc(3 * MIB - 1)]) {
    const headers = { 'content-type': type };
    expect((await product.call(SKILLS, { method: 'POST', key: user.key, payload, headers })).status).toBe(400);
  }
  expect(await upload(user, 'whole', 1.8 * MIB)).toBe(201);
});

it('exports of one user leave room for those of others', async () => {
  const [user, other] = [await newUser(), await newUser()];
  const ids = await Promise.all(
    [user, other].map(async (each) => {
      await upload(each, 'packed', 1.4 * MIB);
      const { body } = await product.call<{ items: { id: string }[] }>(`${SKILLS}?spaceId=${each.spaceId}`, {
        key: each.key,
      });
      return body.items[0]?.id ?? '';
    }),
  );
  let ended = 0;
  const own = Array.from({ length: 8 }, async () => {
    const { status } = await product.call(`${SKILLS}/${ids[0]}/export`, { key: user.key });
    ended += 1;
    return status;
  });
  expect((await product.call(`${SKILLS}/${ids[1]}/export`, { key: other.key })).status).toBe(200);
  expect(ended).toBeLessThan(8);
  expect(await Promise.all(own)).toEqual(Array.from({ length: 8 }, () => 200));
});
