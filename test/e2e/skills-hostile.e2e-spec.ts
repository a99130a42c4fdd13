import { randomBytes } from 'node:crypto';
import { forgedZip } from '../fixtures/files/forged-zip';
import { hostileSkills } from '../fixtures/files/hostile-skills';
import { zipFile } from '../fixtures/files/office';
import { processorTime } from '../fixtures/processor-time';
import { alice, create, platform, withSpaces } from './spaces-world';

withSpaces();

/** What is made against the readers of Skills is refused with a code, leaves nothing, and takes no time of the server itself. */

interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly { readonly message: string }[];
}
/** Processor time of this process for a request that is refused, milliseconds: its parser works in a process apart. Whatever else it does meanwhile counts too. */
const MOST_MS = 2_500;
/** What no archive of one Skill may be, and one of several may. */
const OF_SEVERAL = ['two SKILL.md at one depth', 'SKILL.md further down', 'a file beside the one folder'];

let spaceId: string;
beforeAll(async () => {
  spaceId = (await create('Hostile')).body.id;
});

const post = async (path: string, file: Buffer | string, name: string) => {
  const form = new FormData();
  form.append('scope', 'space');
  form.append('spaceId', spaceId);
  form.append('file', new Blob([typeof file === 'string' ? file : new Uint8Array(file)]), name);
  const encoded = new Response(form);
  const payload = Buffer.from(await encoded.arrayBuffer());
  const spent = processorTime();
  const { status, body } = await platform.call<Problem>(`/api/v1/core/skills${path}`, {
    method: 'POST',
    key: alice.key,
    headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
    payload,
  });
  return { status, body, milliseconds: spent() };
};
const expectNothing = async (): Promise<void> => {
  const { body } = await platform.call<{ items: readonly object[] }>(`/api/v1/core/skills?spaceId=${spaceId}`, {
    key: alice.key,
  });
  expect(body.items).toEqual([]);
  expect(await platform.platform.host.stores.blobs.list(null, 10)).toEqual([]);
};

describe('an archive of a Skill', () => {
  it.each(hostileSkills)('is refused with %s, and leaves nothing', async (kind, zip, message) => {
    const answers = [await post('', zip, 'a.zip')];
    expect(answers[0]?.body.detail.replace(/^file: /, '')).toMatch(message);
    if (!OF_SEVERAL.includes(kind)) answers.push(await post('/import', zip, 'a.skill'));
    for (const { status, body, milliseconds } of answers) {
      expect([status, body.code]).toEqual(status === 413 ? [413, 'too_large'] : [400, 'invalid_archive']);
      expect(milliseconds).toBeLessThan(MOST_MS);
    }
    await expectNothing();
  });

  it('is refused with what is wrong behind files that are stored by then, and leaves none of them', async () => {
    const { blobs } = platform.platform.host.stores;
    const group = blobs.group.bind(blobs);
    let stored = 0;
    jest.spyOn(blobs, 'group').mockImplementation(() => {
      const { put, durable } = group();
      return { put: (...given) => put(...given).finally(() => (stored += 1)), durable };
    });
    const sound = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`${index}.md`, randomBytes(20_000).toString('hex')]),
    );
    const skill = { 'SKILL.md': '---\nname: a\ndescription: d\n---\nDo it.\n' };
    const zip = zipFile({ ...skill, ...sound, 'z.md': zipFile({ 'a.md': 'x' }) });
    const { status, body } = await post('', zip, 'a.zip');
    expect([status, body.code]).toEqual([400, 'invalid_archive']);
    expect(stored).toBe(60);
    jest.restoreAllMocks();
    await expectNothing();
  });

  it('is refused with more entries than it may have', async () => {
    const zip = forgedZip(Array.from({ length: 60_000 }, (_, index) => ({ name: `${index}` })));
    for (const path of ['', '/import']) {
      const { status, body } = await post(path, zip, 'a.zip');
      expect([status, body.code]).toEqual([413, 'too_large']);
    }
    await expectNothing();
  });
});

describe('the frontmatter of a Skill', () => {
  const skill = (more: string) => `---\nname: a\n${more}\n---\nDo it.\n`;
  it.each([
    ['an engine', '---js\nname: a\n---\nx', 1],
    ['a tag', skill('description: !!js/function "x"'), 3],
    ['an alias bomb', skill('a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\ndescription: d'), 3],
    ['a merge bomb', skill('description: d\n<<: [{a: 1}, {b: 1}]'), 4],
    ['a doubled key', skill('description: d\nlicense: MIT\nlicense: MIT'), 5],
    ['no map', '---\n- name\n---\nx', 2],
    ['a scalar of 1 MB', skill(`description: ${'x'.repeat(1_000_000)}`), 1],
    ['depth 1,000', skill(`description: d\na: ${'['.repeat(1_000)}${']'.repeat(1_000)}`), 4],
  ])('is refused with %s, which the problem names with its line', async (_, text, line) => {
    const { status, body, milliseconds } = await post('', text, 'a.md');
    expect([status, body.code]).toEqual([400, 'invalid_frontmatter']);
    expect(body.errors).toMatchObject([
      { path: 'a.md', message: expect.stringMatching(new RegExp(`^line ${line}(?:, [^:]+)?: `)) as string },
    ]);
    // The file is named once.
    expect(body.detail).toBe(`a.md: L${body.errors?.[0]?.message.slice(1)}`);
    expect(milliseconds).toBeLessThan(MOST_MS);
    await expectNothing();
  });
});
