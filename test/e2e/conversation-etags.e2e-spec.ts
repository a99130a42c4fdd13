import { ask, conversationPath, platform, send, upstream, withConversations } from './conversations-world';

withConversations();

it('a conversation is changed by the etag that it is read with, also once an answer was rated or asked for anew', async () => {
  const { conversationId, message } = await ask('Why?');
  const path = conversationPath(`/${conversationId}`);
  for (const [sent, body] of [
    ['feedback', { rating: 'up' }],
    ['regenerate', {}],
  ] as const) {
    const done = await platform.call(`${path}/messages/${message.id}/${sent}`, { method: 'POST', body });
    expect(done.status).toBe(200);
    const read = await platform.call(path, { headers: { 'x-read-after': String(done.headers['x-log-position']) } });
    const change = {
      method: 'PUT',
      headers: { 'if-match': String(read.headers['etag']) },
      body: { title: sent },
    } as const;
    expect((await platform.call(path, change)).status).toBe(200);
  }
});

it('an incognito conversation is, too: a question, one more answer and its deletion hold for the revision that was read', async () => {
  const stale = { 'if-match': '"1"' };
  const fails = { status: 412, body: { code: 'precondition_failed' } };
  const begun = await send({ message: 'Why?', kind: 'incognito' });
  const { conversationId, message } = begun.body;
  const path = conversationPath(`/${conversationId}`);
  const again = { path: `/${conversationId}/messages/${message.id}/regenerate` };
  const calls = upstream.calls.length;
  expect(await send({ message: 'Why?', kind: 'incognito' }, { headers: stale })).toMatchObject(fails);
  expect(await send({ message: 'And?', conversationId }, { headers: stale })).toMatchObject(fails);
  expect(await send({}, { ...again, headers: stale })).toMatchObject(fails);
  expect(await platform.call(path, { method: 'DELETE', headers: stale })).toMatchObject(fails);
  expect(upstream.calls).toHaveLength(calls);
  // Each answer says the revision that it leaves, as what is read afterwards.
  let etag = String(begun.headers['etag']);
  for (const [body, to] of [
    [{ message: 'And?', conversationId }, {}],
    [{}, again],
  ] as const) {
    const headers = { 'if-match': etag, 'idempotency-key': `${etag}-${Date.now()}` };
    const answered = await send(body, { ...to, headers });
    expect([answered.status, answered.text]).toEqual([200, answered.text]);
    expect((await send(body, { ...to, headers })).text).toBe(answered.text);
    etag = String(answered.headers['etag']);
    expect((await platform.call(path)).headers['etag']).toBe(etag);
  }
  expect((await platform.call(path, { method: 'DELETE', headers: { 'if-match': etag } })).status).toBe(204);
});
