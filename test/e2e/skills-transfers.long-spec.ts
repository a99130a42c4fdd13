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

const blobs = () => product.platform.host.stores.blobs.list(null, 1_000);
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

/** A large upload of which all but the last bytes were sent. */
const slow = async (user: User) => {
  const { type, bytes } = await encoded(user, archive('slow', 1.8 * MIB));
  const sent = new PassThrough();
  const answer = product.platform.app.inject({
    method: 'POST',
    url: SKILLS,
    headers: { 'x-api-key': user.key, 'content-type': type, 'content-length': bytes.length },
    payload: sent,
  });
  sent.write(bytes.subarray(0, -100));
  await until(() => sent.readableLength === 0, 'the body being read');
  return { end: () => sent.end(bytes.subarray(-100)), status: answer.then(({ statusCode }) => statusCode) };
};

it('uploads that come slowly keep nobody waiting, not their own users either', async () => {
  const [user, other, ...others] = [
    await newUser(),
    await newUser(),
    await newUser(),
    await newUser(),
    await newUser(),
    await newUser(),
  ];
  const uploads = await Promise.all([user, ...others].map((each) => slow(each)));
  for (const path of ['', '/import']) expect(await upload(other, `other${path.slice(1)}`, 1.8 * MIB, path)).toBe(201);
  expect(await upload(user, 'own', 1.8 * MIB)).toBe(201);
  const files = await blobs();
  for (const { end } of uploads) end();
  expect(await Promise.all(uploads.map(({ status }) => status))).toEqual([201, 201, 201, 201, 201]);
  // The body that was stored, against the one file of each Skill and what is kept of its archive.
  expect((await blobs()).length).toBeLessThanOrEqual(files.length + uploads.length);
});

it('an upload leaves nothing behind that was stored while it came', async () => {
  const user = await newUser();
  expect(await upload(user, 'first', 1.4 * MIB)).toBe(201);
  const before = (await blobs()).length;
  for (const path of ['', '/import']) {
    const { type, bytes } = await encoded(user, Buffer.alloc(1.8 * MIB));
    const { status } = await product.call(`${SKILLS}${path}`, {
      method: 'POST',
      key: user.key,
      payload: bytes,
      headers: { 'content-type': type },
    });
    expect(status).toBe(400);
  }
  expect((await blobs()).length).toBe(before);
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
