import { createHash } from 'node:crypto';
import { at, type Document, type Guide, startGuide } from './guide';
import { ADMIN_KEY } from './harness';

let guide: Guide;
beforeAll(async () => (guide = await startGuide()), 60_000);
afterAll(() => guide.platform.stop());

describe('documents', () => {
  it('say that a write changed nothing, and at once what it changed', async () => {
    const agent = await guide.newAgent('Unchanging');
    const path = at(`/knowledge/${agent}/documents`);
    const content = { content: 'The dingo howls.', mimeType: 'text/plain' };
    const add = (name: string) =>
      guide.platform.call<Document & { sameName: string[] }>(path, { method: 'POST', body: { name, ...content } });
    const { id, sameName } = (await add('a.txt')).body;
    expect(sameName).toEqual([]);
    const { revision } = await guide.ready(id, agent);
    const write = async (method: 'PUT' | 'POST', below: string, body?: object) => {
      const answer = await guide.platform.call<Document & { unchanged?: true }>(`${path}/${id}${below}`, {
        method,
        ...(body === undefined ? {} : { body }),
      });
      return [answer.status, answer.body.unchanged, answer.body.revision === revision];
    };
    const tag = await guide.platform.call<{ id: string }>(at(`/knowledge/${agent}/tags`), {
      method: 'POST',
      body: { name: 'Howling' },
    });
    expect([
      await write('PUT', '', content),
      await write('PUT', '', { name: 'a.txt', tagIds: [] }),
      await write('POST', '/reprocess'),
      await write('POST', '/reprocess', { force: false }),
    ]).toEqual([
      [200, true, true],
      [200, true, true],
      [202, true, true],
      [202, true, true],
    ]);
    expect(await write('POST', `/tags/${tag.body.id}`)).toEqual([200, undefined, false]);
    expect((await write('POST', `/tags/${tag.body.id}`))[1]).toBe(true);
    expect(await write('PUT', '', { content: 'The dingo barks.' })).toEqual([200, undefined, false]);
    // It waits already: asking once more changes nothing, even by force.
    await guide.ready(id, agent);
    expect((await write('POST', '/reprocess', { force: true }))[1]).toBeUndefined();
  });

  it('that failed are tried again with content that is sent again, one by one and of a source', async () => {
    const agent = await guide.newAgent('Trying again');
    const documents = at(`/knowledge/${agent}/documents`);
    const file = at(`/knowledge/${agent}/sources/handbook/files`);
    const send = async (method: string, path: string) => {
      const form = new FormData();
      if (method === 'POST') form.set('path', 'a.pdf');
      form.set('file', new Blob(['%PDF-1.7 and no more of it'], { type: 'application/pdf' }), 'a.pdf');
      const answer = await fetch(`${guide.platform.url}${path}`, {
        method,
        headers: { 'x-api-key': ADMIN_KEY },
        body: form,
      });
      const shown = (await answer.json()) as Document & { unchanged?: true };
      return [shown.id, shown.unchanged, await guide.ready(shown.id, agent)] as const;
    };
    const [id, , failed] = await send('POST', file);
    expect(failed).toMatchObject({ status: 'Failed', statusDetail: { code: 'malformed', attempt: 1 } });
    const again = await send('PUT', `${documents}/${id}`);
    expect(again).toMatchObject([id, undefined, { status: 'Failed', statusDetail: { code: 'malformed', attempt: 2 } }]);
    const third = await send('POST', file);
    expect(third).toMatchObject([id, undefined, { status: 'Failed', statusDetail: { attempt: 3 } }]);
    // A sync alone asks for nothing: it tells files by what is in them.
    const contentHash = createHash('sha256').update('%PDF-1.7 and no more of it').digest('hex');
    const plan = await guide.platform.call(at(`/knowledge/${agent}/sources/handbook/sync`), {
      method: 'POST',
      body: { files: [{ path: 'a.pdf', contentHash }] },
    });
    expect(plan.body).toMatchObject({ upload: [], replace: [] });
  });

  it.each([
    ['waits', 'The dingo is quiet.'],
    ['cannot be read', ''],
  ])('show nothing of what they held before while new content %s', async (_, content) => {
    const agent = await guide.newAgent('Replacing');
    const documents = at(`/knowledge/${agent}/documents`);
    const first = await guide.platform.call<Document>(documents, {
      method: 'POST',
      body: { name: 'a.txt', content: 'The secret is Schneemann17.', mimeType: 'text/plain' },
    });
    const path = `${documents}/${first.body.id}`;
    expect(await guide.ready(first.body.id, agent)).toMatchObject({ chunkCount: 1 });
    const { body } = await guide.platform.call<Document>(path, { method: 'PUT', body: { content } });
    expect(body).toMatchObject({ status: 'Pending', chunkCount: 0, tokenCount: 0 });
    const after = await guide.ready(first.body.id, agent);
    expect(after).toMatchObject(
      content === ''
        ? { status: 'Failed', statusDetail: { code: 'empty_document' }, chunkCount: 0 }
        : { chunkCount: 1 },
    );
    const shown = await Promise.all(['/content', '/chunks'].map((of) => guide.platform.call(`${path}${of}`)));
    expect(shown).toMatchObject([
      { status: 200, body: { text: content === '' ? null : content } },
      { status: 200, body: { items: content === '' ? [] : [{ text: content }] } },
    ]);
    expect(JSON.stringify(shown)).not.toContain('Schneemann');
  });

  it('name those that have their name in their place already', async () => {
    const [agent, other] = [await guide.newAgent('Twice'), await guide.newAgent('Elsewhere')];
    const upload = async (of: string, names: readonly string[], scope = 'agent') => {
      const form = new FormData();
      form.set('scope', scope);
      for (const name of names) form.append('file', new Blob(['The dingo howls.'], { type: 'text/plain' }), name);
      const response = await fetch(`${guide.platform.url}${at(`/knowledge/${of}/documents`)}`, {
        method: 'POST',
        headers: { 'x-api-key': ADMIN_KEY },
        body: form,
      });
      return ((await response.json()) as { items: (Document & { sameName: string[] })[] }).items;
    };
    const [first] = await upload(agent, ['a.txt']);
    await upload(other, ['a.txt']);
    await upload(agent, ['a.txt'], 'space');
    const [second, third] = await upload(agent, ['a.txt', 'b.txt']);
    expect([first?.sameName, second?.sameName, third?.sameName]).toEqual([[], [first?.id], []]);
    const inline = await guide.platform.call<{ sameName: string[] }>(at(`/knowledge/${agent}/documents`), {
      method: 'POST',
      body: { name: 'a.txt', content: 'The dingo sleeps.', mimeType: 'text/plain' },
    });
    expect(inline.body.sameName).toEqual([second?.id, first?.id]);
  });
});
