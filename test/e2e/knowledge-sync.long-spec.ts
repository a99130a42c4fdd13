import { createHash } from 'node:crypto';
import { at, type Document, type Guide, startGuide } from './guide';
import { ADMIN_KEY } from './harness';
import { wholeLog } from '../fixtures/whole-log';

interface Plan {
  readonly upload: readonly string[];
  readonly replace: readonly string[];
  readonly vanished: readonly string[];
  readonly withheld: readonly string[];
}
type Shown = Document & { readonly provider: string; readonly unchanged?: true; readonly code?: string };

const NOTHING: Plan = { upload: [], replace: [], vanished: [], withheld: [] };

let guide: Guide;
beforeAll(async () => (guide = await startGuide()), 60_000);
afterAll(() => guide.platform.stop());

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const listed = (files: Readonly<Record<string, string>>) =>
  Object.entries(files).map(([path, text]) => ({ path, contentHash: sha256(text) }));

const setUp = async (name: string, sourceId = 'handbook') => {
  const agent = await guide.newAgent(name);
  const source = at(`/knowledge/${agent}/sources/${sourceId}`);
  const sync = (files: object, more: object = {}, key = ADMIN_KEY) =>
    guide.platform.call<Plan & { code?: string; errors?: { path: string }[] }>(`${source}/sync`, {
      method: 'POST',
      key,
      body: { files: Array.isArray(files) ? files : listed(files as Record<string, string>), ...more },
    });
  const send = async (path: string, text: string, key = ADMIN_KEY) => {
    const form = new FormData();
    form.set('path', path);
    form.set('file', new Blob([text]), 'ignored.bin');
    const response = await fetch(`${guide.platform.url}${source}/files`, {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: form,
    });
    return { status: response.status, body: (await response.json()) as Shown };
  };
  const documents = async (): Promise<readonly Shown[]> =>
    (await guide.platform.call<{ items: Shown[] }>(at(`/knowledge/${agent}/documents?limit=100`))).body.items;
  const names = async () => (await documents()).map(({ name: each }) => each).toSorted();
  const fill = async (files: Readonly<Record<string, string>>) => {
    for (const [path, text] of Object.entries(files)) expect((await send(path, text)).status).toBe(202);
  };
  return { agent, sync, send, documents, names, fill };
};

describe('a source', () => {
  it('says what is to follow, and is the same as its documents once it has', async () => {
    const { agent, sync, send, documents, names } = await setUp('Syncing');
    const files = { 'a.md': 'The aardvark digs.', 'more/b.txt': 'The badger sleeps.' };
    expect((await sync(files)).body).toEqual({ ...NOTHING, upload: ['a.md', 'more/b.txt'] });
    expect(await documents()).toEqual([]);
    const [first] = [await send('a.md', files['a.md']), await send('more/b.txt', files['more/b.txt'])];
    expect([first.status, first.body]).toMatchObject([
      202,
      { name: 'a.md', provider: 'sync:handbook', scope: 'agent' },
    ]);
    expect((await guide.ready(first.body.id, agent)).status).toBe('Ready');
    expect((await sync(files)).body).toEqual(NOTHING);

    const changed = { ...files, 'a.md': 'The aardvark rests.' };
    expect((await sync(changed)).body).toEqual({ ...NOTHING, replace: ['a.md'] });
    const replaced = await send('a.md', changed['a.md']);
    expect([replaced.body.id, replaced.body.unchanged]).toEqual([first.body.id, undefined]);
    expect((await send('a.md', changed['a.md'])).body.unchanged).toBe(true);

    expect((await sync({ 'a.md': changed['a.md'] }, { dryRun: true })).body).toEqual({
      ...NOTHING,
      vanished: ['more/b.txt'],
    });
    expect((await names()).length).toBe(2);
    expect((await sync({ 'a.md': changed['a.md'] })).body).toEqual({ ...NOTHING, vanished: ['more/b.txt'] });
    expect(await names()).toEqual(['a.md']);
    expect((await sync({ 'a.md': changed['a.md'] })).body).toEqual(NOTHING);
  });

  it('twice is a no-op: not one event follows', async () => {
    const { sync, send, fill } = await setUp('Doing nothing');
    const files = { 'a.md': 'One.', 'b.md': 'Two.' };
    await fill(files);
    const { log } = guide.platform.platform.host.stores;
    const written = async () =>
      (await wholeLog(log)).filter(({ metadata }) => !metadata.includes('"actor":"system:')).length;
    const before = await written();
    expect((await sync(files)).body).toEqual(NOTHING);
    await send('a.md', files['a.md']);
    expect(await written()).toBe(before);
  });

  it('brings back a file that was deleted, also by hand, as a document of its own', async () => {
    const { agent, sync, send, documents, fill } = await setUp('Bringing back');
    const files = { 'a.md': 'The aardvark digs.' };
    const seen = new Set<string>();
    for (let time = 0; time < 6; time += 1) {
      await fill(files);
      const [document] = await documents();
      seen.add(document?.id ?? '');
      if (time % 2 === 0) await sync({});
      else await guide.platform.call(at(`/knowledge/${agent}/documents/${document?.id}`), { method: 'DELETE' });
      expect((await sync(files)).body.upload).toEqual(['a.md']);
    }
    expect(seen.size).toBe(6);
    const back = await send('a.md', files['a.md']);
    expect((await guide.ready(back.body.id, agent)).status).toBe('Ready');
  });

  it('withholds deletions of many documents until they are confirmed, and goes on with the rest', async () => {
    const { sync, names, fill } = await setUp('Withholding');
    const files = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`${index}.md`, `File ${index}.`]));
    await fill(files);
    const { '0.md': first, '1.md': second } = files as Record<'0.md' | '1.md', string>;
    const rest = { '0.md': first, 'new.md': 'New.' };
    const withheld = Object.keys(files).filter((path) => path !== '0.md');
    const answer = (await sync(rest)).body;
    expect([answer.upload, answer.vanished, answer.withheld.toSorted()]).toEqual([['new.md'], [], withheld.toSorted()]);
    expect((await names()).length).toBe(12);
    // Ten are not many.
    expect((await sync({ ...rest, '1.md': second })).body.vanished.length).toBe(10);
    expect((await names()).length).toBe(2);
    await fill(files);
    expect((await sync({}, { confirmDeletions: true })).body.vanished.length).toBe(12);
    expect(await names()).toEqual([]);
  });

  it('deletes what somebody saw and confirmed, and withholds what is gone since', async () => {
    const { sync, send, names, fill } = await setUp('Confirming');
    const files = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`${index}.md`, `File ${index}.`]));
    await fill(files);
    const { withheld } = (await sync({})).body;
    expect(withheld).toHaveLength(12);
    await send('since.md', 'Sent by another.');
    expect((await sync({}, { confirmDeletions: withheld, dryRun: true })).body.withheld).toEqual(['since.md']);
    const confirmed = (await sync({}, { confirmDeletions: withheld })).body;
    expect([confirmed.vanished.toSorted(), confirmed.withheld]).toEqual([withheld.toSorted(), ['since.md']]);
    expect(await names()).toEqual(['since.md']);
    // Repeated as after an answer that was lost, it does no more.
    expect((await sync({}, { confirmDeletions: withheld })).body).toEqual({ ...NOTHING, withheld: ['since.md'] });
    for (const confirmDeletions of ['since.md', [1], ['x'.repeat(501)], null, {}])
      expect((await sync({}, { confirmDeletions })).status).toBe(400);
    expect((await sync({}, { confirmDeletions: true })).body.vanished).toEqual(['since.md']);
  });

  it('names what it deleted in its answer alone, and in no repeat', async () => {
    const { agent, fill } = await setUp('Forgetting');
    const files = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`${index}.md`, `File ${index}.`]));
    const ask = async (key: string, body: object) =>
      (
        await guide.platform.call<Plan>(at(`/knowledge/${agent}/sources/handbook/sync`), {
          method: 'POST',
          headers: { 'idempotency-key': key },
          body,
        })
      ).body;
    await fill(files);
    const { '0.md': gone, ...rest } = files as Record<string, string>;
    expect(gone).toBeDefined();
    const one = { files: listed({ ...rest, 'new.md': 'New.' }) };
    expect(await ask('one', one)).toEqual({ ...NOTHING, upload: ['new.md'], vanished: ['0.md'] });
    expect(await ask('one', one)).toEqual({ ...NOTHING, upload: ['new.md'] });
    const { withheld } = await ask('many', { files: [] });
    expect(withheld).toHaveLength(11);
    expect((await ask('many', { files: [] })).withheld).toEqual(withheld);
    await ask('confirmed', { files: [], confirmDeletions: withheld });
    expect([
      await ask('many', { files: [] }),
      await ask('confirmed', { files: [], confirmDeletions: withheld }),
    ]).toEqual([NOTHING, NOTHING]);
  });

  it('touches no document of another source, of another Agent, or that was uploaded', async () => {
    const one = await setUp('Sources apart');
    const two = await setUp('Agents apart');
    await one.fill({ 'a.md': 'One.' });
    await two.fill({ 'a.md': 'Two.' });
    const path = at(`/knowledge/${one.agent}/documents`);
    await guide.platform.call(path, {
      method: 'POST',
      body: { name: 'a.md', content: 'Mine.', mimeType: 'text/plain' },
    });
    const other = at(`/knowledge/${one.agent}/sources/other/sync`);
    expect((await guide.platform.call(other, { method: 'POST', body: { files: [] } })).body).toEqual(NOTHING);
    expect((await one.sync({})).body.vanished).toEqual(['a.md']);
    expect([(await one.documents()).map(({ provider }) => provider), await two.names()]).toEqual([
      ['inline'],
      ['a.md'],
    ]);
  });

  it.each([
    '../a.md',
    'a/../b.md',
    './a.md',
    '/etc/passwd',
    'C:/a.md',
    'a\\b.md',
    'a//b.md',
    'a/',
    '',
    'a\u0000.md',
    'a\n.md',
    '\u202egpj.md',
    ' a.md',
    'x'.repeat(501),
  ])('takes no path like %j, and names the entry', async (path) => {
    const { sync, send, documents } = await setUp(`Refusing ${sha256(path).slice(0, 8)}`);
    const answer = await sync([
      { path: 'fine.md', contentHash: sha256('') },
      { path, contentHash: sha256('') },
    ]);
    expect([answer.status, answer.body.code, answer.body.errors?.[0]?.path]).toEqual([
      400,
      'invalid_body',
      'files[1].path',
    ]);
    expect((await send(path, 'x')).status).toBe(400);
    expect(await documents()).toEqual([]);
  });

  it('takes no doubled paths, composed or decomposed, no other hash, no more than 10,000 files and no other name', async () => {
    const { agent, sync, send } = await setUp('Doubling');
    const hash = sha256('');
    const doubled = await sync([
      { path: 'a.md', contentHash: hash },
      { path: '\u00fc.md', contentHash: hash },
      { path: 'u\u0308.md', contentHash: hash },
    ]);
    expect([doubled.status, doubled.body.errors?.[0]?.path]).toEqual([400, 'files[2].path']);
    expect((await sync([{ path: 'a.md', contentHash: 'x' }])).status).toBe(400);
    const many = Array.from({ length: 10_001 }, (_, index) => ({ path: `${index}.md`, contentHash: hash }));
    expect((await sync(many)).status).toBe(400);
    expect((await sync(many.slice(1), { dryRun: true })).body.upload.length).toBe(10_000);
    // Case tells files apart; how a name is composed does not.
    expect(
      (
        await sync([
          { path: 'A.md', contentHash: hash },
          { path: 'a.md', contentHash: hash },
        ])
      ).status,
    ).toBe(200);
    const composed = await send('\u00fc.md', 'x');
    expect((await send('u\u0308.md', 'y')).body.id).toBe(composed.body.id);
    for (const source of ['Upper', 'a_b', 'x'.repeat(65), '..'])
      expect(
        (
          await guide.platform.call(at(`/knowledge/${agent}/sources/${encodeURIComponent(source)}/sync`), {
            method: 'POST',
            body: { files: [] },
          })
        ).status,
      ).toBeGreaterThanOrEqual(400);
  });

  it('is synced by two at once, and ends with each file once', async () => {
    const { sync, send, names } = await setUp('Twice at once');
    const files = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`${index}.md`, `File ${index}.`]));
    const one = async () => {
      const { upload } = (await sync(files)).body;
      return Promise.all(upload.map((path) => send(path, files[path] ?? '')));
    };
    const answers = (await Promise.all([one(), one()])).flat();
    expect(answers.every(({ status }) => status === 202)).toBe(true);
    expect(await names()).toEqual(Object.keys(files).toSorted());
    expect((await sync(files)).body).toEqual(NOTHING);
    await Promise.all([sync({}), sync({})]);
    expect(await names()).toEqual([]);
  });

  it('belongs to the editors of the Space', async () => {
    const { agent, sync, send, fill, names } = await setUp('Permitting');
    await fill({ 'a.md': 'One.' });
    const [viewer, stranger] = [await guide.platform.newCaller(), await guide.platform.newCaller()];
    const { spaceId } = (await guide.platform.call<{ spaceId: string }>(at(`/agents/${agent}`))).body;
    await guide.platform.call(at(`/spaces/${spaceId}/members/${viewer.userId}`), {
      method: 'PUT',
      body: { role: 'viewer' },
    });
    for (const [{ key }, status] of [
      [viewer, 403],
      [stranger, 404],
    ] as const) {
      expect((await sync({}, {}, key)).status).toBe(status);
      expect((await send('b.md', 'x', key)).status).toBe(status);
    }
    expect(await names()).toEqual(['a.md']);
  });
});
