import { until } from '../fixtures/until';
import { follow } from './follow';
import { at, type Document, type Guide, startGuide } from './guide';
import { ADMIN_KEY } from './harness';

let guide: Guide;
beforeAll(async () => (guide = await startGuide()), 60_000);
afterAll(() => guide.platform.stop());

describe('documents', () => {
  it('are uploaded as files, listed, read, replaced and deleted', async () => {
    const form = new FormData();
    form.set('scope', 'agent');
    form.append('file', new Blob(['# One\n\nThe first file speaks of zebras.']), 'one.md');
    form.append('file', new Blob(['The second file speaks of giraffes.'], { type: 'text/plain' }), 'two.txt');
    const response = await fetch(`${guide.platform.url}${guide.documentsPath}`, {
      method: 'POST',
      headers: { 'x-api-key': ADMIN_KEY },
      body: form,
    });
    const { items } = (await response.json()) as { items: Document[] };
    expect([response.status, items.map(({ name }) => name)]).toEqual([202, ['one.md', 'two.txt']]);
    for (const { id } of items) expect((await guide.ready(id)).status).toBe('Ready');
    const [one] = items as [Document, Document];
    const path = `${guide.documentsPath}/${one.id}`;
    expect((await guide.platform.call<{ text: string }>(`${path}/content`)).body.text).toContain('zebras');
    expect((await guide.platform.call(`${path}/file`)).headers['content-disposition']).toContain('attachment');
    const chunks = await guide.platform.call<{ items: { text: string; position: object }[] }>(`${path}/chunks`);
    expect(chunks.body.items).toMatchObject([
      { text: 'The first file speaks of zebras.', position: { heading: 'One' } },
    ]);
    const logs = await guide.platform.call<{ items: { event: string; step: string | null }[] }>(`${path}/logs`);
    expect(logs.body.items.map(({ event, step }) => step ?? event)).toEqual([
      'ready',
      'indexed',
      'publish',
      'embed',
      'chunk',
      'parse',
      'started',
      'queued',
    ]);

    await guide.platform.call(path, {
      method: 'PUT',
      body: { name: 'uno.md', content: '# Uno\n\nNow it speaks of okapis.' },
    });
    expect(await guide.ready(one.id)).toMatchObject({ name: 'uno.md', status: 'Ready' });
    const search = (query: string) =>
      guide.platform.call<{ items: { documentId: string; text: string }[] }>(at(`/knowledge/${guide.agentId}/search`), {
        method: 'POST',
        body: { query, mode: 'text' },
      });
    expect((await search('okapis')).body.items.map(({ documentId }) => documentId)).toEqual([one.id]);
    expect((await search('zebras')).body.items).toEqual([]);

    expect((await guide.platform.call(path, { method: 'DELETE' })).status).toBe(204);
    expect((await guide.platform.call(path)).status).toBe(404);
    expect((await search('okapis')).body.items).toEqual([]);
  });

  it.each([
    ['a broken file', { name: 'a.pdf', content: '%PDF', mimeType: 'application/pdf' }, 'malformed'],
    ['no text', { name: 'a.txt', content: '  \n ', mimeType: 'text/plain' }, 'empty_document'],
  ])('fail with a reason: %s', async (_, body, code) => {
    const added = await guide.platform.call<Document>(guide.documentsPath, { method: 'POST', body });
    expect(await guide.ready(added.body.id)).toMatchObject({ status: 'Failed', statusDetail: { code } });
  });

  it('are found by a part of their name, whichever way it writes umlauts', async () => {
    const names = ['Häuser am Fluß.md', 'Haeuser.md', 'Mauer.md', 'Quelle.md'];
    for (const name of names)
      await guide.platform.call(guide.documentsPath, {
        method: 'POST',
        body: { name, content: 'x', mimeType: 'text/markdown' },
      });
    const found = async (q: string) =>
      (
        await guide.platform.call<{ items: Document[] }>(`${guide.documentsPath}?q=${encodeURIComponent(q)}`)
      ).body.items.map(({ name }) => names.indexOf(name));
    expect(await Promise.all(['haeuser', 'HÄUSER', 'fluss', 'uer', 'mauer', 'quelle', 'houses'].map(found))).toEqual([
      [1, 0],
      [1, 0],
      [0],
      [2],
      [2],
      [3],
      [],
    ]);
  });

  it('answer nothing from the moment they fail or are deleted, until they are Ready again', async () => {
    const agent = await guide.newAgent('Strict');
    const path = at(`/knowledge/${agent}/documents`);
    const { id } = (
      await guide.platform.call<Document>(path, {
        method: 'POST',
        body: { name: 'a.md', content: 'The quokka sleeps at noon.', mimeType: 'text/markdown' },
      })
    ).body;
    const become = async (change: object) => (
      await guide.platform.call(`${path}/${id}`, { method: 'PUT', body: change }),
      guide.ready(id, agent)
    );
    const told = async () => {
      const found = await Promise.all(
        ['text', 'vector', 'hybrid'].map((mode) =>
          guide.platform.call<{ items: object[] }>(at(`/knowledge/${agent}/search`), {
            method: 'POST',
            body: { query: 'When does the quokka sleep?', mode },
          }),
        ),
      );
      const { body } = await guide.ask('When does the quokka sleep?', {}, agent);
      return [
        ...found.map(({ body: { items } }) => items.length),
        body.message.parts.filter(({ type }) => type === 'source-document').length,
      ];
    };
    expect([(await guide.ready(id, agent)).status, await told()]).toEqual(['Ready', [1, 1, 1, 1]]);
    expect([(await become({ content: '%PDF', mimeType: 'application/pdf' })).status, await told()]).toEqual([
      'Failed',
      [0, 0, 0, 0],
    ]);
    expect([
      (await become({ content: 'The quokka sleeps at one.', mimeType: 'text/markdown' })).status,
      await told(),
    ]).toEqual(['Ready', [1, 1, 1, 1]]);
    await guide.platform.call(`${path}/${id}`, { method: 'DELETE' });
    expect(await told()).toEqual([0, 0, 0, 0]);
  });

  it('are of a media type without parameters, which may repeat their name', async () => {
    const added = await guide.platform.call<Document & { mimeType: string }>(guide.documentsPath, {
      method: 'POST',
      body: { name: 'Salaries', content: 'Nobody earns less.', mimeType: 'Text/Markdown; name="Salaries.md"' },
    });
    expect([added.status, added.body.mimeType]).toEqual([202, 'text/markdown']);
    expect((await guide.ready(added.body.id)).status).toBe('Ready');
    const changed = await guide.platform.call<{ mimeType: string }>(`${guide.documentsPath}/${added.body.id}`, {
      method: 'PUT',
      body: { content: 'Everybody earns more.', mimeType: 'text/plain;name=Salaries' },
    });
    expect(changed.body.mimeType).toBe('text/plain');
  });

  it('carry tags of their Space only', async () => {
    const tag = await guide.platform.call<{ id: string }>(at(`/knowledge/${guide.agentId}/tags`), {
      method: 'POST',
      body: { name: 'Important', color: '#ff0000' },
    });
    expect(
      (
        await guide.platform.call<{ code: string }>(at(`/knowledge/${guide.agentId}/tags`), {
          method: 'POST',
          body: { name: 'IMPORTANT' },
        })
      ).body.code,
    ).toBe('name_taken');
    const document = await guide.addHandbook();
    const attach = await guide.platform.call<{ tags: object[] }>(
      `${guide.documentsPath}/${document.id}/tags/${tag.body.id}`,
      { method: 'POST' },
    );
    expect(attach.body.tags).toEqual([{ id: tag.body.id, name: 'Important', color: '#ff0000' }]);
    expect(
      (await guide.platform.call<{ documentCount: number }>(at(`/knowledge/${guide.agentId}/tags/${tag.body.id}`))).body
        .documentCount,
    ).toBe(1);
    expect(
      (await guide.platform.call<{ items: Document[] }>(`${guide.documentsPath}?tagId=${tag.body.id}`)).body.items.map(
        ({ id }) => id,
      ),
    ).toEqual([document.id]);
    const other = await guide.newAgent('Elsewhere');
    expect((await guide.platform.call(at(`/knowledge/${other}/tags/${tag.body.id}`))).status).toBe(404);
    expect(
      (
        await guide.platform.call(at(`/knowledge/${other}/documents`), {
          method: 'POST',
          body: { name: 'x', content: 'x', mimeType: 'text/plain', tagIds: [tag.body.id] },
        })
      ).status,
    ).toBe(404);
    expect(
      (await guide.platform.call(`${guide.documentsPath}/${document.id}/tags/${tag.body.id}`, { method: 'DELETE' }))
        .status,
    ).toBe(204);
  });

  it('are followed on their way as events', async () => {
    const leave = new AbortController();
    const { heard, ended } = await follow(
      `${guide.platform.url}${guide.documentsPath}/events`,
      ADMIN_KEY,
      leave.signal,
    );
    const document = await guide.addHandbook();
    await until(
      () => heard.join('').includes(`"${document.id}"`) && heard.join('').includes('"status":"Ready"'),
      'the event of a guide.ready document',
    );
    await guide.platform.call(`${guide.documentsPath}/${document.id}`, { method: 'DELETE' });
    await until(
      () => heard.join('').includes(`event: deleted\ndata: {"id":"${document.id}"}`),
      'the event of the deletion',
    );
    leave.abort();
    await ended;
  });

  it('are followed on behind the last event that was received', async () => {
    const url = `${guide.platform.url}${guide.documentsPath}/events`;
    const foreign = await guide.newAgent('Elsewhere');
    const add = (name: string, path = guide.documentsPath) =>
      guide.platform.call<Document>(path, { method: 'POST', body: { name, content: name, mimeType: 'text/plain' } });
    const leave = new AbortController();
    const first = await follow(url, ADMIN_KEY, leave.signal);
    const [kept, gone] = [(await add('Kept.')).body.id, (await add('Gone.')).body.id];
    await Promise.all([guide.ready(kept), guide.ready(gone)]);
    await until(() => first.heard.join('').includes(gone), 'the first events');
    const lastEventId = /id: (\S+)/.exec(first.heard.join(''))?.[1] ?? '';
    leave.abort();
    await first.ended;

    const other = (await add('Elsewhere.', at(`/knowledge/${foreign}/documents`))).body.id;
    await guide.ready(other, foreign);
    await guide.platform.call(`${guide.documentsPath}/${gone}`, { method: 'DELETE' });
    await guide.platform.call(at(`/knowledge/${foreign}/documents/${other}`), { method: 'DELETE' });
    const leaveAgain = new AbortController();
    const second = await follow(url, ADMIN_KEY, leaveAgain.signal, { 'last-event-id': lastEventId });
    const told = () => second.heard.join('');
    await until(() => told().includes(`event: deleted\ndata: {"id":"${gone}"}`), 'the deletion that was missed');
    await until(
      () => told().includes(`"${kept}"`) && told().includes('"status":"Ready"'),
      'the document that was missed',
    );
    expect(told()).not.toContain(other);
    leaveAgain.abort();
    await second.ended;

    const { status, body } = await guide.platform.call<{ code: string; errors: readonly { path: string }[] }>(
      `${guide.documentsPath}/events`,
      { headers: { 'last-event-id': 'nowhere' } },
    );
    expect([status, body.code, body.errors[0]?.path]).toEqual([400, 'invalid_parameter', 'last-event-id']);
  });

  it('go with their Agent', async () => {
    const doomed = await guide.newAgent('Doomed');
    const added = await guide.platform.call<Document>(at(`/knowledge/${doomed}/documents`), {
      method: 'POST',
      body: { name: 'secret.md', content: 'The quokka sleeps.', mimeType: 'text/markdown' },
    });
    await guide.ready(added.body.id, doomed);
    const turn = await guide.ask('Where does the quokka sleep?', {}, doomed);
    expect((await guide.platform.call(at(`/agents/${doomed}`), { method: 'DELETE' })).status).toBe(204);
    const { readStore } = guide.platform.platform.host.stores;
    await until(
      async () => (await readStore.get('documents', added.body.id)) === undefined,
      'the deletion of the document',
    );
    await until(
      async () => (await readStore.get('conversations', turn.body.conversationId)) === undefined,
      'the deletion of the conversation',
    );
  });
});
