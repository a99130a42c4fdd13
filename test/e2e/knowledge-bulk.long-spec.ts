import { randomUUID } from 'node:crypto';
import { documentDecider } from '@app/knowledge';
import { until } from '../fixtures/until';
import { at, type Document, type Guide, startGuide } from './guide';
import { ADMIN_KEY, type Answer } from './harness';

interface BulkResult {
  readonly documentId: string;
  readonly ok: boolean;
  readonly code?: string;
}
type Tagged = Document & { readonly tags: readonly { readonly id: string }[]; readonly unchanged?: true };

let guide: Guide;
beforeAll(async () => (guide = await startGuide()), 60_000);
afterAll(() => guide.platform.stop());

const add = async (agent: string, name: string, more: object = {}, key = ADMIN_KEY): Promise<string> => {
  const answer = await guide.platform.call<Document>(at(`/knowledge/${agent}/documents`), {
    method: 'POST',
    key,
    body: { name, content: `The ${name} sleeps.`, mimeType: 'text/plain', ...more },
  });
  expect([answer.status, answer.text]).toEqual([202, answer.text]);
  return answer.body.id;
};
const bulk = (agent: string, body: object, more: { key?: string; headers?: Record<string, string> } = {}) =>
  guide.platform.call<{ results: BulkResult[]; code?: string; errors?: { path: string }[] }>(
    at(`/knowledge/${agent}/documents/bulk`),
    { method: 'POST', body, ...more },
  );
const newTag = async (agent: string, name: string): Promise<string> =>
  (await guide.platform.call<{ id: string }>(at(`/knowledge/${agent}/tags`), { method: 'POST', body: { name } })).body
    .id;
const read = async (agent: string, id: string): Promise<Tagged> =>
  (await guide.platform.call<Tagged>(at(`/knowledge/${agent}/documents/${id}`))).body;
const tagged = async (agent: string, tagId: string): Promise<string[]> =>
  (await guide.platform.call<{ items: Document[] }>(at(`/knowledge/${agent}/documents?tagId=${tagId}`))).body.items.map(
    ({ id }) => id,
  );
const search = async (
  agent: string,
  body: object,
  key = ADMIN_KEY,
): Promise<Answer<{ items: { documentId: string }[] }>> =>
  guide.platform.call(at(`/knowledge/${agent}/search`), { method: 'POST', key, body });

describe('a document', () => {
  const put = async (agent: string, id: string, form: FormData, headers = {}) => {
    const response = await fetch(`${guide.platform.url}${at(`/knowledge/${agent}/documents/${id}`)}`, {
      method: 'PUT',
      headers: { 'x-api-key': ADMIN_KEY, ...headers },
      body: form,
    });
    return { status: response.status, body: (await response.json()) as Tagged & { code: string; errors: object[] } };
  };
  const formOf = (fields: Readonly<Record<string, string>>, ...texts: readonly string[]) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    for (const text of texts) form.append('file', new Blob([text], { type: 'text/plain' }), 'a.txt');
    return form;
  };

  it('is replaced by a file, with its fields, and not by an equal one', async () => {
    const agent = await guide.newAgent('Replacing');
    const id = await add(agent, 'wombat');
    const tag = await newTag(agent, 'Marsupials');
    await guide.ready(id, agent);
    const replaced = await put(agent, id, formOf({ name: 'numbat.txt', tagIds: tag }, 'The numbat wakes.'));
    expect([replaced.status, replaced.body.name, replaced.body.tags.map((one) => one.id)]).toEqual([
      200,
      'numbat.txt',
      [tag],
    ]);
    const { revision } = await guide.ready(id, agent);
    expect((await search(agent, { query: 'numbat', mode: 'text' })).body.items.map((hit) => hit.documentId)).toEqual([
      id,
    ]);
    expect((await search(agent, { query: 'wombat', mode: 'text' })).body.items).toEqual([]);
    const equal = await put(agent, id, formOf({}, 'The numbat wakes.'));
    expect([equal.status, equal.body.unchanged, equal.body.revision, equal.body.status]).toEqual([
      200,
      true,
      revision,
      'Ready',
    ]);
    const stale = await put(agent, id, formOf({}, 'Late.'), { 'if-match': '"0"' });
    expect([stale.status, stale.body.code]).toEqual([412, 'precondition_failed']);
  });

  it.each([
    ['no file', formOf({ name: 'x' }), 'invalid_body'],
    ['two files', formOf({}, 'one', 'two'), 'invalid_body'],
    ['a field that it does not have', formOf({ scope: 'space' }, 'one'), 'unknown_field'],
    ['a tag of nobody', formOf({ tagIds: randomUUID() }, 'one'), 'not_found'],
  ])('stays as it is where it is sent %s', async (_, form, code) => {
    const agent = await guide.newAgent(`Staying ${_}`);
    const id = await add(agent, 'wombat');
    const { revision } = await guide.ready(id, agent);
    expect((await put(agent, id, form)).body.code).toBe(code);
    expect((await read(agent, id)).revision).toBe(revision);
  });
});

describe('a deleted tag', () => {
  it('is off every document, and found by nothing, also where it is attached while it is deleted', async () => {
    const agent = await guide.newAgent('Untagging');
    const [gone, kept] = [await newTag(agent, 'Gone'), await newTag(agent, 'Kept')];
    const ids = await Promise.all(
      ['wombat', 'numbat', 'quoll'].map((name) => add(agent, name, { tagIds: [gone, kept] })),
    );
    const global = await add(agent, 'potoroo', { scope: 'global', tagIds: [gone] });
    for (const id of [...ids, global]) await guide.ready(id, agent);
    expect((await tagged(agent, gone)).length).toBe(4);
    const late = await add(agent, 'bilby');
    const [deleted] = await Promise.all([
      guide.platform.call(at(`/knowledge/${agent}/tags/${gone}`), { method: 'DELETE' }),
      guide.platform.call(at(`/knowledge/${agent}/documents/${late}/tags/${gone}`), { method: 'POST' }),
    ]);
    expect(deleted.status).toBe(204);
    expect(await tagged(agent, gone)).toEqual([]);
    expect((await search(agent, { query: 'sleeps', tagIds: [gone] })).status).toBe(404);
    expect((await read(agent, ids[0] as string)).tags.map(({ id }) => id)).toEqual([kept]);
    // Off the documents themselves, not only out of sight: what a rebuild would show.
    const { decisions } = guide.platform.platform.host.stores;
    await until(async () => {
      const states = await Promise.all([...ids, global, late].map(async (id) => decisions.load(documentDecider, id)));
      return states.every(({ state }) => 'tagIds' in state && !state.tagIds.includes(gone));
    }, 'the tag to be off');
    expect((await tagged(agent, kept)).toSorted()).toEqual(ids.toSorted());
    await bulk(agent, { operation: 'delete', documentIds: [global] });
    for (const id of [...ids, late]) await guide.ready(id, agent);
    expect((await search(agent, { query: 'sleeps', tagIds: [kept], topK: 50 })).body.items.length).toBe(3);
  });
});

describe('many documents at once', () => {
  it('are tagged, untagged, re-ingested and deleted; unknown and foreign ones are told in their place', async () => {
    const [agent, other] = [await guide.newAgent('Bulk'), await guide.newAgent('Bulk elsewhere')];
    const ids = await Promise.all(['wombat', 'numbat', 'quoll'].map((name) => add(agent, name)));
    const foreign = await add(other, 'foreign');
    for (const id of ids) await guide.ready(id, agent);
    await guide.ready(foreign, other);
    const tag = await newTag(agent, 'Many');
    const asked = [ids[0], foreign, ids[1], randomUUID(), 'no-id', ids[2]];
    const expected = asked.map((documentId) =>
      ids.includes(documentId as string) ? { documentId, ok: true } : { documentId, ok: false, code: 'not_found' },
    );
    const all = { documentIds: asked };
    const before = await read(other, foreign);

    const attached = await bulk(agent, { operation: 'addTag', tagId: tag, ...all });
    expect([attached.status, attached.body]).toEqual([200, { results: expected }]);
    expect((await tagged(agent, tag)).toSorted()).toEqual(ids.toSorted());
    expect((await bulk(agent, { operation: 'removeTag', tagId: tag, ...all })).body.results).toEqual(expected);
    expect(await tagged(agent, tag)).toEqual([]);

    const revision = async () => (await read(agent, ids[0] as string)).revision;
    const revisionBefore = await revision();
    expect((await bulk(agent, { operation: 'reprocess', ...all })).body.results).toEqual(expected);
    expect(await revision()).toBe(revisionBefore);
    expect((await bulk(agent, { operation: 'forceReprocess', ...all })).body.results).toEqual(expected);
    expect(await revision()).toBeGreaterThan(revisionBefore);
    for (const id of ids) expect((await guide.ready(id, agent)).status).toBe('Ready');

    expect((await bulk(agent, { operation: 'delete', ...all })).body.results).toEqual(expected);
    expect((await search(agent, { query: 'sleeps', mode: 'text' })).body.items).toEqual([]);
    // They are no more known than any other.
    expect((await bulk(agent, { operation: 'delete', documentIds: ids })).body.results).toEqual(
      ids.map((documentId) => ({ documentId, ok: false, code: 'not_found' })),
    );
    expect(await read(other, foreign)).toEqual(before);
  });

  it('are changed only at the levels that the caller may change', async () => {
    const editor = await guide.platform.newCaller();
    const viewer = await guide.platform.newCaller();
    const agent = await guide.newAgent('Levels');
    const { spaceId } = (await guide.platform.call<{ spaceId: string }>(at(`/agents/${agent}`))).body;
    for (const [{ userId }, role] of [
      [editor, 'editor'],
      [viewer, 'viewer'],
    ] as const)
      await guide.platform.call(at(`/spaces/${spaceId}/members/${userId}`), { method: 'PUT', body: { role } });
    const [own, space, global] = [
      await add(agent, 'own'),
      await add(agent, 'space', { scope: 'space' }),
      await add(agent, 'global', { scope: 'global' }),
    ];
    const body = { operation: 'delete', documentIds: [global, own, space] };
    const forbidden = await bulk(agent, body, { key: viewer.key });
    expect([forbidden.status, forbidden.body.code]).toEqual([403, 'forbidden']);
    expect((await bulk(agent, body, { key: editor.key })).body.results).toEqual([
      { documentId: global, ok: false, code: 'forbidden' },
      { documentId: own, ok: true },
      { documentId: space, ok: true },
    ]);
    expect((await read(agent, global)).id).toBe(global);
    expect((await bulk(agent, { ...body, documentIds: [global] })).body.results).toEqual([
      { documentId: global, ok: true },
    ]);
  });

  it('are 1,000 at most', async () => {
    const agent = await guide.newAgent('Limits');
    const unknown = Array.from({ length: 1_001 }, () => randomUUID());
    const tag = await newTag(agent, 'Limit');
    const most = await bulk(agent, { operation: 'reprocess', documentIds: unknown.slice(1) });
    expect([
      most.status,
      most.body.results.length,
      most.body.results.every(({ code }) => code === 'not_found'),
    ]).toEqual([200, 1_000, true]);
    for (const body of [
      { operation: 'reprocess', documentIds: unknown },
      { operation: 'reprocess', documentIds: [] },
      { operation: 'reprocess', documentIds: [unknown[0], unknown[0]] },
      { operation: 'addTag', documentIds: [unknown[0]] },
      { operation: 'delete', documentIds: [unknown[0]], tagId: tag },
      { operation: 'erase', documentIds: [unknown[0]] },
      { operation: 'delete' },
    ]) {
      const answer = await bulk(agent, body);
      expect([body.operation, answer.status, answer.body.code]).toEqual([body.operation, 400, 'invalid_body']);
    }
    expect((await bulk(agent, { operation: 'addTag', documentIds: [unknown[0]], tagId: randomUUID() })).status).toBe(
      404,
    );
  });

  it('are changed once under an Idempotency-Key, and a repeat gets the same answer', async () => {
    const agent = await guide.newAgent('Repeating');
    const ids = await Promise.all(['wombat', 'numbat'].map((name) => add(agent, name)));
    const body = { operation: 'delete', documentIds: [...ids, randomUUID()] };
    const headers = { 'idempotency-key': randomUUID() };
    const first = await bulk(agent, body, { headers });
    expect(first.body.results.map(({ ok }) => ok)).toEqual([true, true, false]);
    const again = await bulk(agent, body, { headers });
    expect([again.status, again.body]).toEqual([200, first.body]);
  });

  it('are deleted also while they are ingested', async () => {
    const agent = await guide.newAgent('Racing');
    const ids = await Promise.all(Array.from({ length: 20 }, (_, index) => add(agent, `animal ${index}`)));
    const { results } = (await bulk(agent, { operation: 'delete', documentIds: ids })).body;
    expect(results.every(({ ok }) => ok)).toBe(true);
    const list = async () =>
      (await guide.platform.call<{ items: object[] }>(at(`/knowledge/${agent}/documents`))).body.items;
    expect(await list()).toEqual([]);
    // Whatever was in work then ends without it.
    const last = await add(agent, 'last');
    await guide.ready(last, agent);
    expect((await list()).length).toBe(1);
    expect(
      (await search(agent, { query: 'sleeps', topK: 100 })).body.items.map(({ documentId }) => documentId),
    ).toEqual([last]);
  });
});
